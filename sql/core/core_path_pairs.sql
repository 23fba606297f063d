-- purpose: model means on two paths side by side
-- grain: one row per study, pair type, metric, two paths and model that was scored on both
-- paper: section 6.3
CREATE OR REPLACE VIEW core_path_pairs AS
-- Both sides are read once.
WITH metrics AS MATERIALIZED (FROM core_model_metrics)
SELECT
    a.study,
    a.pair_type,
    a.metric,
    a.path AS path_a,
    b.path AS path_b, -- after path_a in the alphabet
    a.model_id,
    a.mean AS mean_a, -- score units
    b.mean AS mean_b
FROM metrics AS a
JOIN metrics AS b
    ON b.study = a.study
    AND b.pair_type = a.pair_type
    AND b.metric = a.metric
    AND b.model_id = a.model_id
    AND b.path > a.path;
