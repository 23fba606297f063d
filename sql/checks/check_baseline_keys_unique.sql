-- purpose: no row of a baseline is there twice
-- grain: one row per key that several rows share
-- inputs: stg_run_baselines, stg_baseline_scores, stg_baseline_costs, repeated_keys
-- paper: none
WITH keys AS (
    SELECT
        'run_baselines' AS table_name, study, NULL AS model_id,
        [run_id, baseline_key, component] AS key
    FROM stg_run_baselines
    UNION ALL
    SELECT 'baseline_scores', study, model_id, [baseline_key, component]
    FROM stg_baseline_scores
    UNION ALL
    SELECT 'baseline_costs', study, model_id, [baseline_key]
    FROM stg_baseline_costs
)
SELECT 'check_baseline_keys_unique' AS check_name, *
FROM repeated_keys('keys');
