-- purpose: runs of a study, newest first, as in core_current_runs
SELECT run_id, started_at, finished_at
FROM stg_runs LEFT JOIN stg_run_outcomes USING (study, run_id)
WHERE study = $study
ORDER BY started_at DESC, run_id DESC
