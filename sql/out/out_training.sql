-- purpose: training history of the models that a study trains, epoch by epoch
-- grain: one row per study, trained model and epoch; one row if no epochs are recorded
-- paper: appendix F (fine-tuned models)
CREATE OR REPLACE VIEW out_training AS
WITH trained AS (
    SELECT study, model_id, position, training -> '$.recipe' AS recipe,
        training -> '$.outcome' AS outcome
    FROM out_models
    WHERE training IS NOT NULL
),
epochs AS (
    SELECT study, model_id, unnest(from_json(outcome -> '$.epochs', '["JSON"]')) AS record
    FROM trained
)
SELECT
    study,
    model_id,
    recipe ->> '$.recipe' AS recipe,
    recipe ->> '$.regime' AS regime, -- version of the photos; NULL for other recipes
    (recipe ->> '$.seed')::BIGINT AS seed,
    (record ->> '$.epoch')::BIGINT AS epoch, -- from 1
    (record ->> '$.learning_rate')::DOUBLE AS learning_rate, -- at the end of the epoch
    (record ->> '$.train_loss')::DOUBLE AS train_loss, -- nats
    coalesce(record ->> '$.train_accuracy', outcome ->> '$.train_accuracy')::DOUBLE
        AS train_accuracy,
    (record ->> '$.validation_loss')::DOUBLE AS validation_loss, -- nats
    (record ->> '$.validation_accuracy')::DOUBLE AS validation_accuracy,
    coalesce(record ->> '$.seconds', outcome ->> '$.seconds')::DOUBLE AS seconds,
    epoch = (outcome ->> '$.best_epoch')::BIGINT AS is_best, -- its weights are audited
    CASE
        WHEN json_type(outcome) = 'OBJECT' THEN json_merge_patch(outcome, '{"epochs": null}')
    END::VARCHAR AS outcome -- JSON, without epochs; NULL if the checkpoint has none
FROM trained
LEFT JOIN epochs USING (study, model_id)
ORDER BY study, position, model_id, epoch;
