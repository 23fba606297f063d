-- purpose: the newest run of the study, times in UTC; score is its definition as JSON
SELECT run_id, started_at AT TIME ZONE 'UTC' AS started_at,
       finished_at AT TIME ZONE 'UTC' AS finished_at, is_finished, epsilon, score
FROM out_runs
WHERE study = ? AND is_current
