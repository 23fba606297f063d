-- purpose: accuracy of every contradiction model on its task in both wall contexts
-- grain: one row per study, model (or all) and statistic
-- paper: appendix D (contradiction validation)
-- A pair is correct if both labels are correct for the task. The row all has the minimum over
-- models; for prediction changes, the mean. map_semantics_valid is 1 if at least 99 % of pairs are
-- correct under each object and wall map in both contexts.
CREATE OR REPLACE VIEW paper_contradiction_models AS
WITH answered AS (
    SELECT study, model_id, task,
        avg(pair_accuracy) FILTER (context = 'endpoint') AS endpoint_pair_accuracy,
        avg(pair_accuracy) FILTER (context = 'swapped') AS swapped_pair_accuracy,
        avg(prediction_change) FILTER (context = 'swapped') AS swapped_context_prediction_change,
        (min(pair_accuracy) >= 0.99)::INTEGER::DOUBLE AS map_semantics_valid
    FROM core_scene_contexts
    GROUP BY study, model_id, task
),
models AS (
    SELECT study, model_id, position, answered.* EXCLUDE (study, model_id),
        reached_gate, validation_accuracy AS balanced_clean_accuracy
    FROM answered JOIN core_scene_models USING (study, model_id)
),
gathered AS (
    SELECT study, task, model_id, position, reached_gate, COLUMNS('accuracy|change|valid$')
    FROM models
    UNION ALL BY NAME
    SELECT study, task, 'all' AS model_id, -1 AS position, bool_and(reached_gate) AS reached_gate,
        min(COLUMNS('accuracy$|valid$')), avg(swapped_context_prediction_change)
            AS swapped_context_prediction_change
    FROM models
    GROUP BY GROUPING SETS ((study, task), (study))
),
estimates AS (
    SELECT * REPLACE (coalesce(task, 'all') AS task), coalesce(task, 'all') AS unit, model_id AS part
    FROM gathered
    UNPIVOT INCLUDE NULLS (estimate FOR statistic IN (
        balanced_clean_accuracy, endpoint_pair_accuracy, swapped_pair_accuracy,
        swapped_context_prediction_change, map_semantics_valid
    ))
)
SELECT
    study,
    task, -- direct, gate or invert
    model_id,
    reached_gate, -- of the training; NULL without a gate
    statistic,
    estimate, -- share of scenes or pairs; map_semantics_valid is 1 or 0
    published, -- NULL if the paper has no value
    difference,
    CASE WHEN estimate IS NULL THEN 'its training tells no accuracy' ELSE reason END AS reason
FROM with_published('estimates', 'scenes')
ORDER BY study, task, position, model_id, statistic;
