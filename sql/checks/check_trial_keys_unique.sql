-- purpose: every row on the trial or the failure of a model occurs once
-- grain: one row per key that several rows share
WITH keys AS (
    SELECT 'model_trials' AS table_name, study, model_id, [trial_id] AS key
    FROM stg_model_trials
    UNION ALL SELECT 'model_failures', study, model_id, [run_id] FROM stg_model_failures
)
SELECT 'check_trial_keys_unique' AS check_name, * FROM repeated_keys('keys');
