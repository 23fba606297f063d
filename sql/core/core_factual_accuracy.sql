-- purpose: accuracy of every model, and of a guess, on the factual inputs of the pairs
-- grain: one row per study and model
-- paper: appendix F.2
-- chance is the accuracy of a guess among the labels that occur, or among all classes if only one
-- label occurs. With one label and two classes it is NULL, since a good model may rarely predict
-- that class. Of two labels, a model that is right no more often than the commonest one occurs is
-- at chance, too, if its probabilities have no smaller squared error than the shares of the labels.
CREATE OR REPLACE VIEW core_factual_accuracy AS
WITH classes AS (
    SELECT study, model_id, class_id, sum(correct_count) AS correct_count,
        sum(answer_count) AS answer_count, sum(image_count) AS image_count,
        sum(squared_error) AS squared_error, any_value(class_count) AS class_count
    FROM core_accuracy_counts
    WHERE is_factual
    GROUP BY study, model_id, class_id
),
counts AS (
    SELECT
        study,
        model_id,
        sum(correct_count) / sum(answer_count) AS accuracy, -- NULL without labels or classes
        sum(image_count)::BIGINT AS image_count,
        any_value(class_count) AS class_count,
        count(class_id) AS label_count,
        binomial_limits(sum(correct_count), sum(answer_count)) AS limits,
        max(answer_count / nullif(total, 0)) AS commonest_share, -- of labels
        label_count = 2 AND accuracy <= commonest_share
            AND sum(squared_error) / sum(answer_count) >= commonest_share * (1 - commonest_share)
            AS is_no_better -- than the shares of the labels
    FROM (SELECT *, sum(answer_count) OVER (PARTITION BY study, model_id) AS total FROM classes)
    GROUP BY study, model_id
)
SELECT
    study, model_id, accuracy, image_count, class_count, label_count,
    CASE WHEN accuracy IS NOT NULL THEN limits.lower END AS accuracy_lower_95,
    CASE WHEN accuracy IS NOT NULL THEN limits.upper END AS accuracy_upper_95,
    CASE
        WHEN accuracy IS NULL THEN NULL
        WHEN label_count > 1 THEN 1 / label_count
        WHEN class_count > 2 THEN 1 / class_count
    END AS chance,
    commonest_share,
    -- The second condition excludes few inputs, on which a useful model may fail by chance.
    accuracy_lower_95 <= chance AND accuracy_upper_95 < (1 + chance) / 2 AS is_like_guess,
    is_no_better AND image_count >= 20 AND score ->> '$.kind' = 'class_probability'
        AND accuracy_upper_95 < (1 + commonest_share) / 2
        AND NOT coalesce(is_like_guess, false) AS is_like_shares,
    is_like_guess OR coalesce(is_like_shares, false) AS is_at_chance
FROM counts
JOIN core_current_runs USING (study)
JOIN stg_runs USING (study, run_id);
