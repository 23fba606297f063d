-- purpose: warnings about models whose one value is one of two whole numbers for all clean inputs
-- grain: one row per study and model
-- Three or more whole numbers may be counts or ratings. Below 20 inputs, nothing is warned of.
CREATE OR REPLACE VIEW core_label_warnings AS
SELECT
    study,
    model_id,
    'label_score' AS warning,
    NULL::BIGINT AS affected_count,
    format('its value is {:.0f} or {:.0f} for every clean input, like a label of a class, which '
        || 'does not show how far a change moves the model: return a probability',
        min(class_scores[1]), max(class_scores[1])) AS detail
FROM stg_predictions
SEMI JOIN core_run_units USING (study, model_id, unit_key)
WHERE predicted_class IS NULL
GROUP BY study, model_id
HAVING count(DISTINCT class_scores[1]) = 2
    AND bool_and(class_scores[1] = round(class_scores[1])) AND count(DISTINCT image_id) >= 20;
