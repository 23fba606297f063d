-- purpose: number of scored blocks of models in their newest finished run, if that stopped early
WITH newest AS (
    SELECT model_id, block_count
    FROM stg_models
    JOIN stg_runs AS run USING (study, run_id)
    SEMI JOIN stg_run_outcomes USING (study, run_id)
    LEFT JOIN stg_run_stops USING (study, run_id, model_id)
    WHERE study = $study AND list_contains($models, model_id)
    QUALIFY row_number() OVER (PARTITION BY model_id ORDER BY run.started_at DESC) = 1
)
FROM newest WHERE block_count IS NOT NULL
