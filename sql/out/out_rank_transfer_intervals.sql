-- purpose: intervals of the rank transfer, resampling models and resampling sources
-- grain: one row per study, pair type, metric, two paths, what is resampled and level
-- inputs: out_rank_transfer, rank_transfer_replicates, percentile_limits
-- paper: section 6.3 (rank transfer); appendix D.8
CREATE OR REPLACE VIEW out_rank_transfer_intervals AS
WITH resampled_ranks AS MATERIALIZED (
    SELECT {g: g, resampled: resampled} AS g, value FROM rank_transfer_replicates(500, 91702)
),
limits AS MATERIALIZED (
    SELECT unnest(g.g), g.resampled AS resampled, * EXCLUDE (g)
    FROM percentile_limits('resampled_ranks', [0.9, 0.95])
)
SELECT
    study,
    pair_type,
    metric,
    path_a,
    path_b,
    resampled, -- models, or sources
    level,
    spearman, -- NULL for the reason given, and then without an interval
    CASE WHEN spearman IS NOT NULL THEN standard_error END AS standard_error,
    CASE WHEN spearman IS NOT NULL THEN lower_limit END AS lower_limit,
    CASE WHEN spearman IS NOT NULL THEN upper_limit END AS upper_limit,
    model_count,
    replicate_count, -- those in which neither path ranks all models alike
    reason
FROM limits
JOIN out_rank_transfer USING (study, pair_type, metric, path_a, path_b)
ORDER BY study, pair_type, metric, path_a, path_b, resampled, level;
