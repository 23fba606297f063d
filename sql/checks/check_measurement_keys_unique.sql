-- purpose: no row of a measurement is there twice
-- grain: one row per key that several rows share
-- inputs: stg_run_measurements, stg_corruptions, stg_attributions, stg_measurement_costs,
--   repeated_keys
-- paper: none
WITH keys AS (
    SELECT
        'run_measurements' AS table_name, study, NULL AS model_id, [run_id, measurement_key] AS key
    FROM stg_run_measurements
    UNION ALL
    SELECT 'corruptions', study, model_id, [image_id, corruption, measurement_key]
    FROM stg_corruptions
    UNION ALL
    SELECT 'attributions', study, model_id, [pair_id, method, measurement_key]
    FROM stg_attributions
    UNION ALL
    SELECT 'measurement_costs', study, model_id, [measurement_key]
    FROM stg_measurement_costs
)
SELECT 'check_measurement_keys_unique' AS check_name, *
FROM repeated_keys('keys');
