-- purpose: rank correlation in every replicate of a nested bootstrap, by group
-- grain: one row per group g and replicate; replicate NULL is the sample itself
-- inputs: nested_draws
-- paper: section 5; appendix I (joint family and seed bootstrap)
-- rel names a relation with columns g (group, any type), outer_cluster (such as a family),
-- inner_cluster (such as a seed in it), x and y. Outer clusters are drawn, and inner ones in each;
-- all rows of a drawn one count, once for every time it is drawn. Rows where x or y is missing are
-- left out before anything is drawn. Groups with as many clusters share their draws, so that
-- differences between them are paired.
-- FROM nested_rank_replicates('my_rows', 500, 7601)
CREATE OR REPLACE MACRO nested_rank_replicates(rel, replicates, seed) AS TABLE
WITH complete AS (
    SELECT g, outer_cluster, inner_cluster, x::DOUBLE AS x, y::DOUBLE AS y
    FROM query_table(rel)
    WHERE NOT isnan(x::DOUBLE) AND NOT isnan(y::DOUBLE)
),
placed AS MATERIALIZED (
    SELECT
        g, x, y,
        dense_rank() OVER (PARTITION BY g ORDER BY outer_cluster, inner_cluster) - 1 AS position,
        outer_cluster
    FROM complete
),
structures AS MATERIALIZED (
    SELECT g, list(size ORDER BY outer_cluster) AS sizes
    FROM (
        SELECT g, outer_cluster, count(DISTINCT position) AS size
        FROM placed
        GROUP BY g, outer_cluster
    )
    GROUP BY g
),
layouts AS (SELECT DISTINCT sizes AS layout, sizes FROM structures),
drawn AS (
    SELECT layout, replicate, unnest(positions) AS position
    FROM nested_draws('layouts', replicates, seed)
),
entries AS (
    SELECT g, NULL::BIGINT AS replicate, x, y FROM placed
    UNION ALL
    SELECT g, replicate, x, y
    FROM structures
    JOIN drawn ON layout = sizes
    JOIN placed USING (g, position)
)
-- Lists that one GROUP BY makes without ORDER BY hold its rows in the same order.
SELECT
    g,
    replicate,
    rank_correlation(list(x), list(y)) AS value, -- NULL where one side is all alike
    count(*) AS entry_count
FROM entries
GROUP BY g, replicate;
