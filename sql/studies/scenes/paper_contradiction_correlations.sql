-- purpose: Spearman correlation of contradiction with swapped labels in the channel
-- grain: one row per study and metric
-- paper: section 5, figure 2d (label-level reversal)
-- Over every model, wall map and eta. Intervals draw clusters of a family and a seed, with its
-- three tasks, 500 times with seed 7301.
CREATE OR REPLACE VIEW paper_contradiction_correlations AS
WITH measured AS (
    FROM core_scene_mixtures
    UNPIVOT (mean FOR metric IN (contradiction, abs_response))
),
entries AS MATERIALIZED (
    SELECT {study: study, metric: metric} AS g, family || ' ' || seed AS cluster,
        -- Rounded so that equal means are ties.
        round(mean, 12) AS x, swap_share AS y
    FROM measured
),
judged AS (
    SELECT unnest(g), g.metric AS part, 'swap' AS unit, * EXCLUDE (g),
        'rank_correlation' AS statistic
    FROM spearman_intervals('entries', 500, 7301)
)
SELECT
    study,
    metric,
    entry_count AS row_count,
    estimate, -- -1 to 1
    lower_90, upper_90, lower_95, upper_95,
    published, -- NULL if the paper has no value
    difference,
    reason -- why the estimate, or its interval, is NULL
FROM with_published('judged', 'scenes')
ORDER BY study, metric <> 'contradiction', metric;
