-- purpose: planned measurements of the current runs, and which have been made
-- grain: one row per study and measurement of its current run
-- inputs: core_current_runs, stg_run_measurements, receipts
-- paper: none
CREATE OR REPLACE VIEW core_measurements AS
WITH committed AS (SELECT study, key FROM receipts WHERE kind = 'measurements')
SELECT
    planned.study,
    planned.run_id,
    planned.model_id,
    planned.kind,
    planned.name,
    planned.block,
    planned.measurement_key,
    committed.key IS NOT NULL AS is_made
FROM stg_run_measurements AS planned
JOIN core_current_runs USING (study, run_id)
LEFT JOIN committed
    ON committed.study = planned.study AND committed.key = planned.measurement_key;
