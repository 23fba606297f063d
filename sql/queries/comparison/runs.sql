-- purpose: earlier runs of a study, newest first, with the versions that they audited
SELECT run.run_id, list(DISTINCT entry.version) FILTER (entry.state = 'audited') AS versions
FROM stg_runs AS run
LEFT JOIN stg_registry_entries AS entry USING (study, run_id)
WHERE study = $study
    AND run_id NOT IN (SELECT run_id FROM core_current_runs WHERE study = $study)
GROUP BY run_id, started_at
ORDER BY started_at DESC, run_id
