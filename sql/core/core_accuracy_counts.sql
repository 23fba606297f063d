-- purpose: counts of correct predictions and sums of scores, by kind of input and class
-- grain: one row per study, model, variant, class, and whether inputs are factual
-- paper: appendix F.2
-- Accuracies are ratios of these counts, so predictions are read once for all views.
CREATE OR REPLACE VIEW core_accuracy_counts AS
SELECT
    study,
    model_id,
    variant,
    class_id, -- NULL without labels
    is_factual, -- the factual input of a pair
    count(*) AS image_count,
    count(is_correct) AS answer_count, -- predictions with a known class
    sum(is_correct::INTEGER)::BIGINT AS correct_count, -- NULL without labels
    count(true_class_score) AS score_count,
    sum(true_class_score) AS score_sum, -- score units
    sum((1 - true_class_score) ** 2) AS squared_error, -- sum; of probabilities, Brier's
    any_value(len(class_scores)) AS class_count
FROM core_predictions
GROUP BY ALL;
