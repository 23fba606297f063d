-- purpose: right answers and scores of the true class, by kind of input and class
-- grain: one row per study, model, variant, class and side of the pairs
-- paper: appendix F.2
-- Means of accuracy are sums of these counts, so that predictions are read once for all of them.
CREATE OR REPLACE VIEW core_accuracy_counts AS
SELECT
    study,
    model_id,
    variant,
    class_id, -- NULL without labels
    is_factual, -- of some pair
    count(*) AS image_count,
    count(is_correct) AS answer_count, -- right or wrong
    sum(is_correct::INTEGER)::BIGINT AS correct_count, -- NULL without answers
    count(true_class_score) AS score_count,
    sum(true_class_score) AS score_sum, -- score units
    any_value(len(class_scores)) AS class_count
FROM core_predictions
GROUP BY ALL;
