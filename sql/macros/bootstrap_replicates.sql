-- purpose: mean of x, mean of x - y and ratio of means in every bootstrap replicate, by group
-- grain: one row per group g, statistic and replicate; replicate NULL is the sample itself
-- inputs: bootstrap_sums, bootstrap_layout_weights
-- paper: appendix D.8 (statistical summaries)
-- rel is as for bootstrap_by_group. For what combines replicates before their interval.
CREATE OR REPLACE MACRO bootstrap_replicates(rel, replicates, seed) AS TABLE
WITH sums AS MATERIALIZED (FROM bootstrap_sums(rel)),
layouts AS (
    SELECT DISTINCT layout, block, unnest(positions) AS position, unnest(strata) AS stratum
    FROM sums
),
weights AS (
    SELECT layout, replicate, block, weights
    FROM bootstrap_layout_weights('layouts', replicates, seed)
    UNION ALL
    SELECT layout, NULL, block, list(1.0::DOUBLE) FROM layouts GROUP BY layout, block
),
totals AS (
    SELECT
        g,
        replicate,
        bool_or(has_y) AS has_y,
        sum(x_clusters)::BIGINT AS x_clusters,
        sum(pair_clusters)::BIGINT AS pair_clusters,
        nullif(sum(list_inner_product(x_counts, weights)), 0) AS x_count,
        sum(list_inner_product(x_sums, weights)) AS x_sum,
        -- Lists without y are not multiplied: that is most of the time.
        nullif(sum(CASE WHEN has_y THEN list_inner_product(pair_counts, weights) END), 0)
            AS pair_count,
        sum(CASE WHEN has_y THEN list_inner_product(pair_x_sums, weights) END) AS pair_x_sum,
        sum(CASE WHEN has_y THEN list_inner_product(pair_y_sums, weights) END) AS pair_y_sum
    FROM sums
    JOIN weights USING (layout, block)
    GROUP BY g, replicate
)
SELECT g, replicate, 'mean' AS statistic, x_sum / x_count AS value, x_clusters AS cluster_count
FROM totals
UNION ALL
SELECT g, replicate, 'difference', (pair_x_sum - pair_y_sum) / pair_count, pair_clusters
FROM totals
WHERE has_y
UNION ALL
SELECT g, replicate, 'ratio', pair_x_sum / nullif(pair_y_sum, 0), pair_clusters
FROM totals
WHERE has_y;
