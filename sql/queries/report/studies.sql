-- purpose: studies that a warehouse has a run of
SELECT study
FROM out_runs
WHERE is_current
ORDER BY study
