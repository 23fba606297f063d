-- purpose: clusters that the bootstrap draws, in a fixed order, with the sums of their rows
-- grain: one row per group g and cluster
-- paper: appendix D.8 (statistical summaries)
-- rel is as for bootstrap_by_group.
CREATE OR REPLACE MACRO bootstrap_clusters(rel) AS TABLE
WITH given AS (
    FROM query_table(rel)
    UNION ALL BY NAME
    SELECT NULL::VARCHAR AS stratum, NULL::DOUBLE AS y, NULL::DOUBLE AS weight WHERE false
),
present AS (
    SELECT
        g,
        cluster,
        stratum::VARCHAR AS stratum,
        CASE
            WHEN isinf(x::DOUBLE) OR isinf(y::DOUBLE)
                THEN error('bootstrap: x and y must be finite, or NULL where they are missing')
            WHEN NOT isnan(x::DOUBLE) THEN x::DOUBLE
        END AS x,
        CASE WHEN NOT isnan(y::DOUBLE) THEN y::DOUBLE END AS y,
        coalesce(weight, 1) AS weight
    FROM given
)
SELECT
    g,
    cluster,
    row_number() OVER (PARTITION BY g ORDER BY cluster) - 1 AS position,
    CASE
        WHEN min(coalesce(stratum, '')) = max(coalesce(stratum, '')) THEN any_value(stratum)
        ELSE error('bootstrap: every cluster must lie in one stratum')
    END AS stratum,
    coalesce(sum(weight) FILTER (x IS NOT NULL), 0) AS x_weight,
    coalesce(sum(weight * x), 0) AS x_sum,
    coalesce(sum(weight) FILTER (x + y IS NOT NULL), 0) AS pair_weight,
    coalesce(sum(weight * x) FILTER (y IS NOT NULL), 0) AS pair_x_sum,
    coalesce(sum(weight * y) FILTER (x IS NOT NULL), 0) AS pair_y_sum,
    count(y) > 0 AS has_y
FROM present
GROUP BY g, cluster;
