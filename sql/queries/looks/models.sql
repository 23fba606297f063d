-- purpose: sums of every scored source for the models of a run, without versions before them
WITH models_of_run AS (
    SELECT
        study, run_id AS reaudit_id, model_id AS entry, 'nothing' AS against, run_id, model_id,
        NULL::VARCHAR AS run_before, NULL::VARCHAR AS model_before,
        'there is no version before it' AS reason
    FROM stg_models
    WHERE study = $study AND run_id = $run_id
)
FROM version_sources('models_of_run')
ORDER BY ALL
