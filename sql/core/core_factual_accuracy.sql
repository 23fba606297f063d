-- purpose: accuracy of every model, and of a guess, on the factual inputs of the pairs
-- grain: one row per study and model
-- paper: appendix F.2
-- chance is the accuracy of a guess among the labels that occur, or among all classes if only one
-- label occurs. With one label and two classes it is NULL, since a good model may rarely predict
-- that class.
CREATE OR REPLACE VIEW core_factual_accuracy AS
WITH counts AS (
    SELECT
        study,
        model_id,
        sum(correct_count) / sum(answer_count) AS accuracy, -- NULL without labels or classes
        sum(image_count)::BIGINT AS image_count,
        any_value(class_count) AS class_count,
        count(DISTINCT class_id) AS label_count,
        binomial_limits(sum(correct_count), sum(answer_count)) AS limits
    FROM core_accuracy_counts
    WHERE is_factual
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
    -- The second condition excludes few inputs, on which a useful model may fail by chance.
    accuracy_lower_95 <= chance AND accuracy_upper_95 < (1 + chance) / 2 AS is_at_chance
FROM counts;
