-- purpose: entries of each registry at its newest re-audit: what changed, and the verdict
-- grain: one row per study and entry of its newest re-audit
CREATE OR REPLACE VIEW out_entries AS
SELECT * EXCLUDE (is_newest, name, failed_gates, judged_reaudit_id, note)
FROM core_entries
WHERE is_newest
ORDER BY study, entry;
