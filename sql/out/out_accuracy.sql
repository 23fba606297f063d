-- purpose: accuracy on every kind of clean image
-- grain: one row per study, model and variant
-- paper: appendix F.2
CREATE OR REPLACE VIEW out_accuracy AS
SELECT
    study,
    model_id,
    variant,
    sum(image_count)::BIGINT AS image_count,
    sum(correct_count) / sum(answer_count) AS accuracy, -- NULL without labels
    sum(score_sum) / sum(score_count) AS mean_true_class_score
FROM core_accuracy_counts
GROUP BY study, model_id, variant
ORDER BY study, model_id, variant;
