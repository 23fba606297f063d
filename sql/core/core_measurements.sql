-- purpose: units of corruptions and attributions in the current runs, and which are complete
-- grain: one row per study and unit of its current run
CREATE OR REPLACE VIEW core_measurements AS
SELECT * EXCLUDE (row_count) REPLACE (if(kind = 'corrupt', 'corruptions', 'attributions') AS kind)
FROM core_run_units
WHERE kind IN ('corrupt', 'attribute');
