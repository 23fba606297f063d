-- purpose: ranges of the scores of all clean inputs
-- grain: one row per study and model with predictions
CREATE OR REPLACE VIEW core_score_ranges AS
WITH targets AS (
    SELECT study, (score ->> '$.target')::BIGINT AS target
    FROM stg_runs SEMI JOIN core_current_runs USING (study, run_id)
),
scores AS (
    SELECT
        study,
        model_id,
        min(image_id) <> max(image_id) AS has_inputs, -- more than one
        max(len(class_scores)) AS class_count, -- 1 for a regression
        coalesce(min(predicted_class) <> max(predicted_class), false) AS has_decisions, -- several
        max(class_scores[1]) - min(class_scores[1]) AS first_range,
        max(class_scores[-1]) - min(class_scores[-1]) AS last_range,
        max(list_max(class_scores)) - min(list_max(class_scores)) AS top_range,
        max(list_max(class_scores)) - min(list_min(class_scores)) AS total_range,
        CASE WHEN max(len(class_scores)) > 2 THEN
            max(class_scores[target + 1]) - min(class_scores[target + 1])
        END AS target_range, -- those of two classes have one range
        avg(list_max(class_scores)) AS mean_top_score
    FROM stg_predictions
    SEMI JOIN core_run_units USING (study, model_id, unit_key)
    JOIN targets USING (study)
    GROUP BY study, model_id
)
SELECT
    study, model_id, has_inputs, scores.class_count, mean_top_score,
    has_decisions AND target_range IS NULL AS has_decisions, -- that q may follow
    -- Of the target class, else the largest of the first, last and predicted class.
    coalesce(target_range, greatest(first_range, last_range, top_range)) AS spread,
    -- Largest difference of two clean scores of a class, or of the target class, score units. NULL
    -- for one input, and for a model of two classes that gives every input the same class, unless
    -- inputs have both labels.
    CASE
        WHEN NOT has_inputs THEN NULL
        WHEN target_range IS NOT NULL THEN target_range
        WHEN scores.class_count > 2 THEN total_range
        WHEN scores.class_count = 1 OR has_decisions OR label_count > 1
            THEN greatest(first_range, last_range)
    END AS score_range
FROM scores
LEFT JOIN core_factual_accuracy USING (study, model_id);
