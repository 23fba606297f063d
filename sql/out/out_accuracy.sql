-- purpose: accuracy on every kind of clean image
-- grain: one row per study, model and variant
-- paper: appendix F.2
CREATE OR REPLACE VIEW out_accuracy AS
SELECT
    study,
    model_id,
    variant,
    count(*) AS image_count,
    avg(is_correct::INTEGER) AS accuracy,
    avg(true_class_score) AS mean_true_class_score
FROM core_predictions
GROUP BY study, model_id, variant
ORDER BY study, model_id, variant;
