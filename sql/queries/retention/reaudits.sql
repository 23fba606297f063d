-- purpose: re-audits with the runs of their entries and what they refer to, the newest first
SELECT DISTINCT
    reaudit_id, run_id, resolved_at,
    unnest([previous_reaudit_id, judged_reaudit_id, passed_reaudit_id]) AS needed_reaudit_id
FROM stg_registry_entries
WHERE study = $study
ORDER BY resolved_at DESC
