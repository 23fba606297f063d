-- purpose: intervals of the path ratios, resampling models and resampling sources, 500 replicates
-- grain: one row per study, pair type, two paths, metric, resampled unit and level (90 and 95 %)
-- paper: section 6.3 (response composition); appendix D.8
CREATE OR REPLACE VIEW out_path_ratio_intervals AS
WITH ratios AS MATERIALIZED (FROM path_ratio_replicates(500, 91702)),
sample AS (
    SELECT
        g,
        any_value(value) AS ratio,
        max(cluster_count) FILTER (resampled = 'models') AS model_count,
        max(cluster_count) FILTER (resampled = 'sources') AS source_count
    FROM ratios
    WHERE replicate IS NULL
    GROUP BY g
),
replicates AS (
    SELECT {g: g, resampled: resampled} AS g, value FROM ratios WHERE replicate IS NOT NULL
),
judged AS (
    SELECT
        limits.* EXCLUDE (g),
        limits.g.resampled AS resampled,
        sample.*,
        CASE
            WHEN ratio IS NULL THEN 'the mean on path_a is 0'
            WHEN resampled = 'models' AND model_count = 1 THEN 'a single model'
            WHEN resampled = 'sources' AND source_count = 1 THEN 'a single source'
            WHEN resampled = 'sources' AND sample.g.study IN (SELECT study FROM out_stops)
                THEN 'a model stopped early'
            WHEN replicate_count < 2 THEN 'fewer than two defined replicates'
        END AS reason
    FROM percentile_limits('replicates', [0.9, 0.95]) AS limits
    JOIN sample ON sample.g = limits.g.g
)
SELECT
    g.study,
    g.pair_type,
    g.path_a,
    g.path_b,
    g.metric,
    resampled, -- models, or sources
    level,
    ratio, -- mean over models on path_b, over that on path_a
    CASE WHEN reason IS NULL THEN COLUMNS(['standard_error', 'lower_limit', 'upper_limit']) END,
    model_count,
    source_count, -- of the model that has most
    replicate_count, -- those in which the mean on path_a is not 0
    reason
FROM judged
ORDER BY ALL;
