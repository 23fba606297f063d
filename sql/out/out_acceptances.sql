-- purpose: failed verdicts that somebody accepted, or did not accept any more; the newest first
-- grain: one row per study, re-audit that judged, entry and moment
CREATE OR REPLACE VIEW out_acceptances AS
SELECT study, entry, version, is_undo, accepted_at, accepted_by, why, reaudit_id
FROM stg_acceptances
ORDER BY study, accepted_at DESC, entry;
