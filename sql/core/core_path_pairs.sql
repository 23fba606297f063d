-- purpose: mean of a model on two paths side by side
-- grain: one row per study, pair type, metric, ordered two paths, and model scored on both
-- paper: section 6.3
CREATE OR REPLACE VIEW core_path_pairs AS
WITH metrics AS MATERIALIZED (FROM core_model_metrics)
SELECT
    study,
    pair_type,
    metric,
    a.path AS path_a,
    b.path AS path_b,
    model_id,
    a.mean AS mean_a, -- score units
    b.mean AS mean_b
FROM metrics AS a
JOIN metrics AS b USING (study, pair_type, metric, model_id)
WHERE a.path <> b.path;
