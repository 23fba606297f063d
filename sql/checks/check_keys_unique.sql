-- purpose: each key of a table belongs to one row
-- grain: one row per key that several rows share
WITH keys AS NOT MATERIALIZED (
    -- Without unit_key: two units of one run must not hold the same pair.
    SELECT
        'trajectories' AS table_name, study, model_id,
        [pair_id, path, repetition::VARCHAR] AS key
    FROM stg_trajectories SEMI JOIN core_run_units USING (study, model_id, unit_key)
    UNION ALL SELECT 'profiles', study, model_id, [pair_id, path, repetition::VARCHAR]
    FROM stg_profiles SEMI JOIN core_run_units USING (study, model_id, unit_key)
    UNION ALL SELECT 'units', study, NULL, [unit_key] FROM committed_units
    UNION ALL FROM other_keys('trajectories profiles')
)
SELECT 'check_keys_unique' AS check_name, * FROM repeated_keys('keys');
