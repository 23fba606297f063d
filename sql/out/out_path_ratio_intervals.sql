-- purpose: intervals of the path ratios, resampling models and resampling sources, 500 replicates
-- grain: one row per study, pair type, two paths, metric, what is resampled and level (90 and 95 %)
-- inputs: out_path_ratios, core_model_metrics, path_ratio_replicates, percentile_limits
-- paper: section 6.3 (response composition); appendix D.8
CREATE OR REPLACE VIEW out_path_ratio_intervals AS
WITH resampled_ratios AS MATERIALIZED (
    SELECT {g: g, resampled: resampled} AS g, value FROM path_ratio_replicates(500, 91702)
),
limits AS MATERIALIZED (
    SELECT unnest(g.g), g.resampled AS resampled, * EXCLUDE (g)
    FROM percentile_limits('resampled_ratios', [0.9, 0.95])
),
sources AS (
    SELECT study, pair_type, max(source_count) AS source_count
    FROM core_model_metrics
    GROUP BY study, pair_type
),
judged AS (
    SELECT
        *,
        CASE
            WHEN ratio IS NULL THEN 'the mean on path_a is 0'
            WHEN resampled = 'models' AND model_count = 1 THEN 'a single model'
            WHEN resampled = 'sources' AND source_count = 1 THEN 'a single source'
            WHEN replicate_count < 2 THEN 'fewer than two defined replicates'
        END AS reason
    FROM limits
    JOIN out_path_ratios USING (study, pair_type, metric, path_a, path_b)
    JOIN sources USING (study, pair_type)
)
SELECT
    study,
    pair_type,
    path_a,
    path_b,
    metric,
    resampled, -- models, or sources
    level,
    ratio, -- mean over models on path_b, over that on path_a
    CASE WHEN reason IS NULL THEN standard_error END AS standard_error,
    CASE WHEN reason IS NULL THEN lower_limit END AS lower_limit,
    CASE WHEN reason IS NULL THEN upper_limit END AS upper_limit,
    model_count,
    source_count, -- of the model that has most
    replicate_count, -- those in which the mean on path_a is not 0
    reason
FROM judged
ORDER BY study, pair_type, path_a, path_b, metric, resampled, level;
