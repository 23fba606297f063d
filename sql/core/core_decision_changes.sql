-- purpose: how many pairs have two predicted classes, one for each clean input
-- grain: one row per study, model with classes and pair type
CREATE OR REPLACE VIEW core_class_changes AS
SELECT
    study,
    model_id,
    pair_type,
    count(*) AS pair_count,
    count(*) FILTER (plus_class <> minus_class) AS changed_count
FROM core_pair_predictions
WHERE plus_class IS NOT NULL
GROUP BY study, model_id, pair_type;
