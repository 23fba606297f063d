-- purpose: intervals of the path ratios, resampling models: 500 replicates, 90 and 95 %
-- grain: one row per study, pair type, two paths, metric and level
-- inputs: core_path_pairs, bootstrap
-- paper: section 6.3 (response composition); appendix D.8
CREATE OR REPLACE VIEW out_path_ratio_intervals AS
WITH paired AS (
    SELECT
        {
            study: study, pair_type: pair_type, path_a: path_a, path_b: path_b, metric: metric
        } AS g,
        model_id AS cluster,
        mean_b AS x,
        mean_a AS y
    FROM core_path_pairs
)
SELECT
    g.study,
    g.pair_type,
    g.path_a,
    g.path_b,
    g.metric,
    level,
    estimate AS ratio, -- mean over models on path_b, over that on path_a
    standard_error,
    lower_limit,
    upper_limit,
    cluster_count AS model_count,
    replicate_count,
    reason
FROM bootstrap_by_group('paired', 500, 91702, [0.9, 0.95])
WHERE statistic = 'ratio'
ORDER BY g.study, g.pair_type, g.path_a, g.path_b, g.metric, level;
