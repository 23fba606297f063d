-- purpose: studies that a warehouse has a run of
SELECT DISTINCT study
FROM core_current_runs
ORDER BY study
