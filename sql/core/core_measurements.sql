-- purpose: what is measured beside the trajectories in the current runs, and what has been made
-- grain: one row per study and measurement of its current run
CREATE OR REPLACE VIEW core_measurements AS
SELECT * EXCLUDE (row_count) REPLACE (if(kind = 'corrupt', 'corruptions', 'attributions') AS kind)
FROM core_run_units
WHERE kind IN ('corrupt', 'attribute');
