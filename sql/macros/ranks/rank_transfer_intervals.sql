-- purpose: intervals of the rank transfer, resampling models and resampling sources
-- grain: one row per study, pair type, metric, two paths, what is resampled and level
-- paper: section 6.3 (rank transfer); appendix D.8
-- Where resampling cannot vary, there is no interval instead of one of width 0: two models that are
-- drawn again are the same two, and so is a single source.
-- FROM rank_transfer_intervals(2000, 7, [0.95])
CREATE OR REPLACE MACRO rank_transfer_intervals(replicates, seed, levels) AS TABLE
WITH paired AS MATERIALIZED (
    SELECT
        g, replicate, cluster, source_count,
        -- Sums differ in their last bits: equal means must stay ties.
        round(y, 12) AS x,
        round(x, 12) AS y
    FROM path_pair_replicates(replicates, seed)
),
sample AS (SELECT g, cluster, x, y FROM paired WHERE replicate IS NULL),
ranks AS MATERIALIZED (
    SELECT {of_sample: g, resampled: 'models'} AS g, value
    FROM spearman_replicates('sample', replicates, seed)
    WHERE replicate IS NOT NULL
    UNION ALL
    -- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
    SELECT {of_sample: g, resampled: 'sources'}, rank_correlation(list(x), list(y))
    FROM paired
    WHERE replicate IS NOT NULL
    GROUP BY g, replicate
),
sizes AS (SELECT g, max(source_count) AS source_count FROM paired WHERE replicate IS NULL GROUP BY g),
judged AS (
    SELECT
        samples.* EXCLUDE (reason),
        limits.* EXCLUDE (g),
        limits.g.resampled AS resampled,
        CASE
            WHEN samples.reason IS NOT NULL THEN samples.reason
            WHEN limits.g.resampled = 'models' AND entry_count = 2 THEN 'two models'
            WHEN limits.g.resampled = 'sources' AND source_count = 1 THEN 'a single source'
            WHEN limits.g.resampled = 'sources' AND samples.g.study IN (SELECT study FROM out_stops)
                THEN 'a model stopped early'
        END AS reason
    FROM spearman_by_group('sample') AS samples
    JOIN sizes USING (g)
    JOIN percentile_limits('ranks', levels) AS limits ON limits.g.of_sample = samples.g
)
SELECT
    unnest(g),
    resampled, -- models, or sources
    level,
    spearman, -- NULL for the reason given, and then without an interval
    CASE WHEN reason IS NULL THEN COLUMNS(['standard_error', 'lower_limit', 'upper_limit']) END,
    entry_count AS model_count,
    replicate_count, -- those in which neither path ranks all models alike
    reason
FROM judged;
