-- purpose: warnings about models with nearly equal scores for all clean inputs
-- grain: one row per study and model
-- It compares scores of the first, last and predicted class: if they are constant, and with more
-- than two classes also the predicted class, q is constant.
CREATE OR REPLACE VIEW core_constant_warnings AS
WITH scores AS (
    SELECT
        study,
        model_id,
        min(image_id) <> max(image_id) AS has_inputs,
        max(len(class_scores)) <= 2 OR min(predicted_class) = max(predicted_class) AS is_constant,
        greatest(
            max(class_scores[1]) - min(class_scores[1]),
            max(class_scores[-1]) - min(class_scores[-1]),
            max(list_max(class_scores)) - min(list_max(class_scores))
        ) AS spread
    FROM stg_predictions
    SEMI JOIN core_run_units USING (study, model_id, unit_key)
    GROUP BY study, model_id
)
SELECT
    study,
    model_id,
    'constant_score' AS warning,
    NULL::BIGINT AS affected_count,
    'scores of all clean inputs differ by at most a tenth of epsilon. Likely causes: inputs in '
    || 'other units than the model expects, such as by mean or std, or other weights' AS detail
FROM scores
JOIN core_current_runs USING (study)
WHERE has_inputs AND is_constant AND spread <= epsilon / 10;
