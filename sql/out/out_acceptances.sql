-- purpose: failed verdicts that somebody accepted, and why; the newest first
-- grain: one row per study, re-audit that judged and entry
CREATE OR REPLACE VIEW out_acceptances AS
SELECT study, entry, version, accepted_at, accepted_by, why, reaudit_id
FROM stg_acceptances
ORDER BY study, accepted_at DESC, entry;
