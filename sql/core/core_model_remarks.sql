-- purpose: remarks of the newest trial of each model of the current runs
-- grain: one row per study, model and remark
CREATE OR REPLACE VIEW core_model_remarks AS
WITH trials AS (
    SELECT study, model_id, tried_at, remarks, unnest(unit_keys) AS unit_key
    FROM stg_model_trials
),
newest AS (
    SELECT study, model_id, arg_max(remarks, tried_at) AS remarks
    FROM trials
    SEMI JOIN core_run_units USING (study, model_id, unit_key)
    GROUP BY study, model_id
)
SELECT study, model_id, unnest(remarks) AS remark
FROM newest;
