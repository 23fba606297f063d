-- purpose: entries of the newest re-audit that stopped early and did not pass
SELECT entry
FROM core_entry_verdicts AS verdict
JOIN stg_registry_entries AS newest USING (study, reaudit_id, entry)
SEMI JOIN stg_run_stops AS stop
    ON stop.study = newest.study AND stop.run_id = newest.run_id AND stop.model_id = newest.model_id
WHERE study = $study AND is_newest AND NOT (is_reference OR verdict.verdict = 'pass')
