-- purpose: accuracy of every model on the factual inputs of the pairs
-- grain: one row per study and model
-- paper: appendix F.2
CREATE OR REPLACE VIEW core_factual_accuracy AS
SELECT
    study,
    model_id,
    avg(is_correct::INTEGER) AS accuracy, -- NULL without labels, or without classes
    count(*) AS image_count,
    any_value(len(class_scores)) AS class_count
FROM core_predictions
WHERE is_factual
GROUP BY study, model_id;
