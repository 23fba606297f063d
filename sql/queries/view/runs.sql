-- purpose: runs of every study
SELECT study, run_id, is_current, started_at, finished_at, is_finished, epsilon, unit_count,
       forward_rows, quarantined_count
FROM out_runs
