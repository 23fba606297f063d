-- purpose: warnings about classifiers that are right far more often than their probabilities say
-- grain: one row per study and model
-- Above a guess, the accuracy is more than twice the mean probability of the predicted class.
-- Responses of such scores are small whatever the model uses. Outputs that passed a second softmax
-- or a large temperature are so.
CREATE OR REPLACE VIEW core_flat_warnings AS
SELECT
    study,
    model_id,
    'flat_scores' AS warning,
    NULL::BIGINT AS affected_count,
    format('right on {} of {:,} factual inputs, but the mean probability of its predicted class is '
        || 'only {}, which makes its responses small. Likely causes: another kind of outputs than '
        || '''output:'' states, or a large temperature',
        format_percent(accuracy), image_count, format_score(mean_top_score)) AS detail
FROM core_factual_accuracy AS answers
JOIN core_score_ranges AS ranges USING (study, model_id)
JOIN core_current_runs USING (study)
JOIN stg_runs USING (study, run_id)
WHERE (score ->> '$.kind') = 'class_probability'
    AND answers.class_count > 1
    AND 2 * (mean_top_score - 1 / answers.class_count)
        < accuracy_lower_95 - 1 / answers.class_count;
