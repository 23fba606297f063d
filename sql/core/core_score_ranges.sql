-- purpose: ranges of the scores of all clean inputs
-- grain: one row per study and model with predictions
CREATE OR REPLACE VIEW core_score_ranges AS
WITH scores AS (
    SELECT
        study,
        model_id,
        min(image_id) <> max(image_id) AS has_inputs, -- more than one
        max(len(class_scores)) AS class_count, -- 1 for a regression
        coalesce(min(predicted_class) <> max(predicted_class), false) AS has_decisions, -- several
        max(class_scores[1]) - min(class_scores[1]) AS first_range,
        max(class_scores[-1]) - min(class_scores[-1]) AS last_range,
        max(list_max(class_scores)) - min(list_max(class_scores)) AS top_range,
        max(list_max(class_scores)) - min(list_min(class_scores)) AS total_range
    FROM stg_predictions
    SEMI JOIN core_run_units USING (study, model_id, unit_key)
    GROUP BY study, model_id
)
SELECT
    study, model_id, has_inputs, class_count, has_decisions,
    greatest(first_range, last_range, top_range) AS spread, -- first, last and predicted class
    -- Largest difference of two clean scores of a class, score units. NULL for one input, and for a
    -- model of two classes that gives every input the same class.
    CASE
        WHEN NOT has_inputs THEN NULL
        WHEN class_count > 2 THEN total_range
        WHEN class_count = 1 OR has_decisions THEN greatest(first_range, last_range)
    END AS score_range
FROM scores;
