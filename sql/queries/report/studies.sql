-- purpose: studies of a warehouse that have a run
SELECT study
FROM out_runs
WHERE is_current
ORDER BY study
