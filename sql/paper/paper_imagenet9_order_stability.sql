-- purpose: how much the order of the patches matters: order A beside B, and beside a random order
-- grain: one row per study of ImageNet-9, pair type, two patch orders, statistic and metric
-- inputs: core_protocol_pairs, core_trajectories, paper_imagenet9_data, rank_transfer_of_models
-- paper: appendix G, figure 11a (patch-order stability)
-- Differences are of model means, score units; identical trajectories have equal scores at every
-- stage, bit for bit. Orders A and B differ in exactly tied patches alone. Intervals resample models.
CREATE OR REPLACE VIEW paper_imagenet9_order_stability AS
WITH pairs AS MATERIALIZED (
    FROM core_protocol_pairs SEMI JOIN paper_imagenet9_data USING (study) WHERE protocol_a = 'patch'
),
asked AS (SELECT DISTINCT study, pair_type, path_a, path_b FROM pairs),
-- A hash of 64 bits stands for the stages and scores: half the time, a fraction of the memory.
stored AS MATERIALIZED (
    SELECT
        study, model_id, pair_type, pair_id, repetition, path, hash(t, q_plus, q_minus) AS content
    FROM core_trajectories
),
statistics AS (
    SELECT study, pair_type, path_a, path_b, 'rank correlation' AS statistic, metric,
        spearman AS estimate, lower_90, upper_90, lower_95, upper_95, reason
    FROM rank_transfer_of_models(500, 91702)
    SEMI JOIN asked USING (study, pair_type, path_a, path_b)
    UNION ALL BY NAME
    SELECT study, pair_type, path_a, path_b, 'mean absolute difference' AS statistic, metric,
        avg(abs(mean_b - mean_a)) AS estimate
    FROM pairs
    GROUP BY study, pair_type, path_a, path_b, metric
    UNION ALL BY NAME
    SELECT study, pair_type, path_a, path_b, 'largest absolute difference' AS statistic, metric,
        max(abs(mean_b - mean_a)) AS estimate
    FROM pairs
    GROUP BY study, pair_type, path_a, path_b, metric
    UNION ALL BY NAME
    SELECT study, a.pair_type, a.path AS path_a, b.path AS path_b,
        'share of identical trajectories' AS statistic, NULL AS metric,
        avg((a.content = b.content)::DOUBLE) AS estimate
    FROM stored AS a
    JOIN stored AS b USING (study, model_id, pair_id, repetition)
    JOIN asked
        ON asked.study = a.study AND asked.pair_type = a.pair_type
        AND asked.path_a = a.path AND asked.path_b = b.path
    GROUP BY study, a.pair_type, a.path, b.path
)
SELECT
    study,
    pair_type,
    path_a, -- order A
    path_b,
    statistic,
    metric, -- NULL where the statistic is of whole trajectories
    estimate,
    lower_90,
    upper_90,
    lower_95,
    upper_95,
    NULL::DOUBLE AS published, -- the paper says "almost perfectly"
    reason
FROM statistics
ORDER BY study, pair_type, path_b, statistic, metric;
