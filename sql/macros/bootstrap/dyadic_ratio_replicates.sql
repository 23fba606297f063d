-- purpose: ratio of sums over pairs of clusters in every bootstrap replicate, by group
-- grain: one row per group g and replicate; replicate NULL is the sample itself
-- paper: appendix F (statistical reporting)
-- rel names a relation with columns g (group, any type), cluster_a, cluster_b, x and y; each row
-- belongs to two clusters. The bootstrap draws clusters. The weight of a row is the product of how
-- often both clusters are drawn, or how often the one is drawn if both are the same. The weight of
-- one cluster, or the mean of both, would hide half of the effect of a cluster on the ratio.
-- Replicates without a row of rel have no row.
CREATE OR REPLACE MACRO dyadic_ratio_replicates(rel, replicates, seed) AS TABLE
WITH cells AS MATERIALIZED (
    SELECT
        g, dense_rank() OVER (ORDER BY g) AS number, least(cluster_a, cluster_b) AS cluster_a,
        greatest(cluster_a, cluster_b) AS cluster_b, sum(x)::DOUBLE AS x, sum(y)::DOUBLE AS y
    FROM query_table(rel) AS given
    GROUP BY g, least(given.cluster_a, given.cluster_b), greatest(given.cluster_a, given.cluster_b)
),
clusters AS MATERIALIZED (
    SELECT
        number, cluster, row_number() OVER (PARTITION BY number ORDER BY cluster) - 1 AS position,
        count(*) OVER (PARTITION BY number) AS layout
    FROM (SELECT DISTINCT number, unnest([cluster_a, cluster_b]) AS cluster FROM cells)
),
layouts AS (SELECT DISTINCT layout, position, NULL::VARCHAR AS stratum FROM clusters),
weights AS MATERIALIZED (
    SELECT layout, replicate, position, count(*)::DOUBLE AS weight
    FROM (
        SELECT layout, replicate, unnest(positions) AS position
        FROM bootstrap_draws('layouts', replicates, seed)
    )
    GROUP BY layout, replicate, position
),
totals AS (
    SELECT number, NULL::BIGINT AS replicate, sum(x) AS x, sum(y) AS y FROM cells GROUP BY number
    UNION ALL
    SELECT
        cell.number, wa.replicate,
        sum(x * wa.weight * CASE WHEN a.position = b.position THEN 1 ELSE wb.weight END),
        sum(y * wa.weight * CASE WHEN a.position = b.position THEN 1 ELSE wb.weight END)
    FROM cells AS cell
    JOIN clusters AS a ON a.number = cell.number AND a.cluster IS NOT DISTINCT FROM cluster_a
    JOIN clusters AS b ON b.number = cell.number AND b.cluster IS NOT DISTINCT FROM cluster_b
    JOIN weights AS wa ON wa.layout = a.layout AND wa.position = a.position
    JOIN weights AS wb
        ON wb.layout = b.layout AND wb.position = b.position AND wb.replicate = wa.replicate
    GROUP BY cell.number, wa.replicate
),
groups AS (
    SELECT number, any_value(g) AS g,
        len(list_distinct(flatten(list([cluster_a, cluster_b]) FILTER (y <> 0)))) AS cluster_count
    FROM cells
    GROUP BY number
)
SELECT g, replicate, x / nullif(y, 0) AS value, coalesce(cluster_count, 0) AS cluster_count
FROM totals
JOIN groups USING (number);
