-- purpose: mean of x, mean of x - y and ratio of means in every bootstrap replicate, by group
-- grain: one row per group g, statistic and replicate; replicate NULL is the sample itself
-- paper: appendix D.8 (statistical summaries)
-- rel is as for bootstrap_by_group. Use this to combine replicates before taking an interval.
CREATE OR REPLACE MACRO bootstrap_replicates(rel, replicates, seed) AS TABLE
WITH gathered AS (
    SELECT
        g,
        -- Draws depend only on places and strata, so groups of equally many clusters share them.
        count(*) AS drawn_count,
        if(count(stratum) = 0, [], list(stratum ORDER BY position)) AS strata,
        {
            g: g,
            x_clusters: count(*) FILTER (x_weight > 0),
            pair_clusters: count(*) FILTER (pair_weight > 0),
            has_y: bool_or(has_y)
        } AS known,
        list(position::INTEGER) AS positions,
        [
            list(x_weight), list(x_sum), list(pair_weight), list(pair_x_sum), list(pair_y_sum)
        ] AS columns
    FROM bootstrap_clusters(rel)
    GROUP BY g
),
resampled AS (
    SELECT
        known AS g,
        resampled_sums(drawn_count, strata, replicates, seed, positions, columns) AS sums
    FROM gathered
),
totals AS MATERIALIZED (
    SELECT
        g,
        nullif(generate_subscripts(sums[1], 1), 1) - 2 AS replicate,
        nullif(unnest(sums[1]), 0) AS x_weight,
        unnest(sums[2]) AS x_sum,
        nullif(unnest(sums[3]), 0) AS pair_weight,
        unnest(sums[4]) AS pair_x_sum,
        unnest(sums[5]) AS pair_y_sum
    FROM resampled
)
SELECT g.g AS g, replicate, 'mean' AS statistic, x_sum / x_weight AS value,
    g.x_clusters AS cluster_count
FROM totals
UNION ALL
SELECT g.g, replicate, 'difference', (pair_x_sum - pair_y_sum) / pair_weight, g.pair_clusters
FROM totals
WHERE g.has_y
UNION ALL
SELECT g.g, replicate, 'ratio', pair_x_sum / nullif(pair_y_sum, 0), g.pair_clusters
FROM totals
WHERE g.has_y;
