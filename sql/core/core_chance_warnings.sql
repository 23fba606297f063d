-- purpose: warnings about models and classes that are no better than a guess on factual inputs
-- grain: one row per study, model and warning
-- A class of five inputs or more counts if the model is right there less than half as often as a
-- guess, but more often overall. Not for two labels: exchanged, all answers are wrong.
CREATE OR REPLACE VIEW core_chance_warnings AS
WITH classes AS (
    SELECT study, model_id, class_id,
        sum(correct_count) AS correct_count, sum(answer_count) AS answer_count
    FROM core_accuracy_counts
    WHERE is_factual
    GROUP BY study, model_id, class_id
),
missed AS (
    SELECT
        study,
        model_id,
        any_value(accuracy) AS accuracy,
        list(format('{} of {:,} inputs of {}', format_percent(correct_count / answer_count),
            answer_count::BIGINT, coalesce(name, 'class ' || class_id)) ORDER BY class_id) AS names
    FROM classes
    JOIN core_factual_accuracy USING (study, model_id)
    JOIN core_current_runs USING (study)
    LEFT JOIN stg_class_names USING (study, run_id, class_id)
    WHERE label_count > 2
        AND NOT is_at_chance
        AND answer_count >= 5
        AND correct_count / answer_count < chance / 2
        AND binomial_limits(correct_count, answer_count).upper < accuracy
    GROUP BY study, model_id
)
SELECT study, model_id, 'below_chance' AS warning, NULL::BIGINT AS affected_count,
    format('right on {} of {:,} factual inputs, no more than a guess ({}). Likely '
        || 'causes: class names or numbers in another order than the outputs of the model, which '
        || 'count from 0, wrong preprocessing, other weights, or a learned shortcut',
        format_percent(accuracy), image_count, format_percent(chance)) AS detail
FROM core_factual_accuracy WHERE is_at_chance AND NOT coalesce(is_like_shares, false)
UNION ALL
SELECT study, model_id, 'below_chance', NULL,
    format('right on {} of {:,} factual inputs, no more than if it always gave the commonest label '
        || '({}), and its probabilities are no better than the shares of the labels. Likely causes: '
        || 'wrong preprocessing or weights', format_percent(accuracy), image_count,
        format_percent(commonest_share))
FROM core_factual_accuracy WHERE is_like_shares
UNION ALL
SELECT study, model_id, 'missed_classes', NULL,
    format('right on {}{}, but on {} of all. Likely causes: exchanged names of these classes, '
        || 'wrong preprocessing, factual and counterfactual inputs in each other''s place, or '
        || 'classes that the model never learned', array_to_string(names[:4], ', '),
        if(len(names) > 4, format(' and {} more', len(names) - 4), ''),
        format_percent(accuracy))
FROM missed;
