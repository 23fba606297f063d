-- purpose: effect of the patch order: order A next to order B and to a random order
-- grain: one row per study of ImageNet-9, pair type, two patch orders, statistic and metric
-- paper: appendix G, figure 11a (patch-order stability)
-- Differences are between means of models, in score units. Orders A and B differ only in patches of
-- equal energy. Intervals resample models.
CREATE OR REPLACE VIEW paper_imagenet9_order_stability AS
WITH pairs AS MATERIALIZED (
    FROM core_protocol_pairs SEMI JOIN paper_imagenet9_data USING (study) WHERE protocol_a = 'patch'
),
asked AS (SELECT DISTINCT study, pair_type, path_a, path_b FROM pairs),
found AS MATERIALIZED (
    SELECT
        {study: study, pair_type: pair_type, path_a: path_a, path_b: path_b,
            statistic: 'mean absolute difference', metric: metric} AS g,
        model_id AS cluster, abs(mean_b - mean_a) AS x, 1 AS y
    FROM pairs
    UNION ALL
    SELECT
        {study: study, pair_type: pair_type, path_a: path_a, path_b: path_b,
            statistic: 'share of identical trajectories', metric: NULL},
        model_id, identical_count, trajectory_count
    FROM core_identical_trajectories
    SEMI JOIN asked USING (study, pair_type, path_a, path_b)
),
compared AS (
    SELECT
        {study: study, pair_type: pair_type, path_a: path_a, path_b: path_b,
            statistic: 'rank correlation', metric: metric} AS g,
        -- Rounded so that equal means are ties.
        model_id AS cluster, round(mean_a, 12) AS x, round(mean_b, 12) AS y
    FROM pairs
),
statistics AS (
    SELECT unnest(g), * EXCLUDE (g, entry_count) FROM spearman_intervals('compared', 500, 91702)
    UNION ALL BY NAME
    SELECT unnest(g), * EXCLUDE (g, statistic, reason),
        replace(reason, 'cluster', 'model') AS reason
    FROM bootstrap_intervals('found', 500, 91702)
    WHERE statistic = 'ratio'
    UNION ALL BY NAME
    SELECT study, pair_type, path_a, path_b, 'largest absolute difference' AS statistic, metric,
        max(abs(mean_b - mean_a)) AS estimate, 'a maximum is not resampled' AS reason
    FROM pairs
    GROUP BY study, pair_type, path_a, path_b, metric
)
SELECT
    study, pair_type,
    path_a, -- order A
    path_b, statistic,
    metric, -- NULL for statistics of whole trajectories
    estimate, lower_90, upper_90, lower_95, upper_95,
    NULL::DOUBLE AS published, -- the paper only says "almost perfectly"
    reason -- why the estimate, or its interval, is NULL
FROM statistics
ORDER BY study, pair_type, path_b, statistic, metric;
