-- purpose: rank correlation in every bootstrap replicate, by group
-- grain: one row per group g and replicate; replicate NULL is the sample itself
-- paper: section 5; section 6.3; appendix I (joint family and seed bootstrap)
-- rel names a relation with columns g (group, any type), cluster (such as a model, or a family and
-- seed), x and y. Rows where x or y is missing are left out before the draws. A row counts as often
-- as its cluster is drawn. Groups with equally many clusters share their draws, so differences
-- between them are paired.
-- FROM spearman_replicates('my_rows', 500, 7601)
CREATE OR REPLACE MACRO spearman_replicates(rel, replicates, seed) AS TABLE
WITH placed AS MATERIALIZED (
    SELECT
        g, x::DOUBLE AS x, y::DOUBLE AS y,
        dense_rank() OVER (PARTITION BY g ORDER BY cluster) - 1 AS position
    FROM query_table(rel)
    WHERE NOT isnan(x::DOUBLE) AND NOT isnan(y::DOUBLE)
),
sizes AS MATERIALIZED (SELECT g, max(position) + 1 AS layout FROM placed GROUP BY g),
layouts AS (
    SELECT layout, unnest(range(layout)) AS position, NULL::VARCHAR AS stratum
    FROM (SELECT DISTINCT layout FROM sizes)
),
drawn AS (
    SELECT layout, replicate, unnest(positions) AS position
    FROM bootstrap_draws('layouts', replicates, seed)
),
entries AS (
    SELECT g, NULL::BIGINT AS replicate, x, y FROM placed
    UNION ALL
    SELECT g, replicate, x, y
    FROM sizes JOIN drawn USING (layout) JOIN placed USING (g, position)
)
-- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
SELECT
    g,
    replicate,
    rank_correlation(list(x), list(y)) AS value -- NULL if all values of one side are equal
FROM entries
GROUP BY g, replicate;
