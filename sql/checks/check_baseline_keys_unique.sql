-- purpose: no row of a baseline is there twice
-- grain: one row per key that several rows share
-- inputs: stg_run_baselines, stg_baseline_scores, stg_baseline_costs
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
SELECT
    'check_baseline_keys_unique' AS check_name,
    study,
    model_id,
    table_name || '/' || array_to_string(key, '/') AS key,
    format('{} rows', count(*)) AS found,
    '1 row' AS expected
FROM keys
GROUP BY table_name, study, model_id, key
HAVING count(*) > 1;
