-- purpose: intervals of the rank transfer, resampling models and resampling sources
-- grain: one row per study, pair type, metric, two paths, what is resampled and level
-- paper: section 6.3 (rank transfer); appendix D.8
-- FROM rank_transfer_intervals(2000, 7, [0.95])
CREATE OR REPLACE MACRO rank_transfer_intervals(replicates, seed, levels) AS TABLE
WITH profiles AS (FROM core_profiles),
means AS MATERIALIZED (
    SELECT
        study, pair_type, path, model_id, replicate,
        -- Sums differ in their last bits: equal means must stay ties.
        round(COLUMNS(* EXCLUDE (study, pair_type, path, model_id, replicate, source_count)), 12)
    FROM bootstrap_means_of('profiles', replicates, seed)
),
sample AS (FROM means WHERE replicate IS NULL),
sample_means AS (FROM by_metric('sample') WHERE mean IS NOT NULL),
sample_pairs AS (
    SELECT
        {study: study, pair_type: pair_type, metric: metric, path_a: a.path, path_b: b.path} AS g,
        model_id AS cluster,
        a.mean AS x,
        b.mean AS y
    FROM sample_means AS a
    JOIN sample_means AS b USING (study, pair_type, metric, model_id)
    WHERE a.path < b.path
),
resampled_ranks AS MATERIALIZED (
    SELECT {of_sample: g, resampled: 'models'} AS g, value
    FROM spearman_replicates('sample_pairs', replicates, seed)
    WHERE replicate IS NOT NULL
    UNION ALL
    SELECT
        {
            of_sample: {
                study: study, pair_type: pair_type, metric: metric, path_a: path_a, path_b: path_b
            },
            resampled: 'sources'
        },
        value
    FROM rank_transfer_replicates('means')
)
SELECT
    unnest(samples.g),
    limits.g.resampled AS resampled, -- models, or sources
    level,
    spearman, -- NULL for the reason given, and then without an interval
    CASE WHEN spearman IS NOT NULL THEN standard_error END AS standard_error,
    CASE WHEN spearman IS NOT NULL THEN lower_limit END AS lower_limit,
    CASE WHEN spearman IS NOT NULL THEN upper_limit END AS upper_limit,
    entry_count AS model_count,
    replicate_count, -- those in which neither path ranks all models alike
    reason
FROM spearman_by_group('sample_pairs') AS samples
JOIN percentile_limits('resampled_ranks', levels) AS limits ON limits.g.of_sample = samples.g;
