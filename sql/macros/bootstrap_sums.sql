-- purpose: what the bootstrap of any relation resamples: sums over each cluster, side by side
-- grain: one row per group g and block of 256 clusters
-- inputs: bootstrap_clusters
-- paper: appendix D.8 (statistical summaries)
-- rel is as for bootstrap_by_group. Every list has one entry per cluster of the block.
CREATE OR REPLACE MACRO bootstrap_sums(rel) AS TABLE
WITH clusters AS (FROM bootstrap_clusters(rel)),
given AS (
    SELECT
        g,
        cluster,
        CASE
            WHEN isinf(x::DOUBLE) OR isinf(y::DOUBLE)
                THEN error('bootstrap: x and y must be finite, or NULL where they are missing')
            WHEN NOT isnan(x::DOUBLE) THEN x::DOUBLE
        END AS x,
        CASE WHEN NOT isnan(y::DOUBLE) THEN y::DOUBLE END AS y
    FROM (FROM query_table(rel) UNION ALL BY NAME SELECT NULL::DOUBLE AS y WHERE false)
),
sums AS (
    SELECT
        g,
        cluster,
        count(x)::DOUBLE AS x_count,
        coalesce(sum(x), 0) AS x_sum,
        count(x + y)::DOUBLE AS pair_count,
        coalesce(sum(x) FILTER (y IS NOT NULL), 0) AS pair_x_sum,
        coalesce(sum(y) FILTER (x IS NOT NULL), 0) AS pair_y_sum,
        count(y) > 0 AS has_y
    FROM given
    GROUP BY g, cluster
)
SELECT
    clusters.g,
    layout,
    block,
    list(position ORDER BY position) AS positions,
    list(stratum ORDER BY position) AS strata,
    bool_or(has_y) AS has_y,
    count(*) FILTER (x_count > 0) AS x_clusters,
    count(*) FILTER (pair_count > 0) AS pair_clusters,
    list(x_count ORDER BY position) AS x_counts,
    list(x_sum ORDER BY position) AS x_sums,
    list(pair_count ORDER BY position) AS pair_counts,
    list(pair_x_sum ORDER BY position) AS pair_x_sums,
    list(pair_y_sum ORDER BY position) AS pair_y_sums
FROM clusters
JOIN sums
    ON sums.g IS NOT DISTINCT FROM clusters.g AND sums.cluster IS NOT DISTINCT FROM clusters.cluster
GROUP BY clusters.g, layout, block;
