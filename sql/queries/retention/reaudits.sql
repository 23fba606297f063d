-- purpose: re-audits of a study with the runs of their entries, the newest first
SELECT DISTINCT reaudit_id, run_id, previous_reaudit_id, resolved_at
FROM stg_registry_entries
WHERE study = $study
ORDER BY resolved_at DESC
