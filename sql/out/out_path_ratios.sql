-- purpose: ratio of a metric on one path to that on another
-- grain: one row per study, pair type, two paths and metric
-- paper: section 6.3 (response composition)
CREATE OR REPLACE VIEW out_path_ratios AS
SELECT
    study,
    pair_type,
    path_a,
    path_b,
    metric,
    avg(mean_a) AS mean_a, -- over models, score units
    avg(mean_b) AS mean_b,
    avg(mean_b) / nullif(avg(mean_a), 0) AS ratio,
    count(*) AS model_count
FROM core_path_pairs
WHERE path_a < path_b
GROUP BY study, pair_type, path_a, path_b, metric
ORDER BY study, pair_type, path_a, path_b, metric;
