-- purpose: verdicts that a person accepted, and withdrawals of acceptances; newest first
-- grain: one row per study, re-audit that judged the version, entry and time
CREATE OR REPLACE VIEW out_acceptances AS
SELECT study, entry, version, is_undo, accepted_at, accepted_by, why, reaudit_id
FROM stg_acceptances
ORDER BY study, accepted_at DESC, entry;
