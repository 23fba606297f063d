-- purpose: clusters of any relation in a fixed order, with the layouts that groups share
-- grain: one row per group g and cluster
-- inputs: none
-- paper: appendix D.8 (statistical summaries)
-- rel names a relation with columns g and cluster, and stratum if draws are to stay inside strata.
-- Groups of the same clusters and strata have one layout, so one set of draws: their differences
-- are paired. A group that lacks a cluster joins them with a row whose x is NULL.
CREATE OR REPLACE MACRO bootstrap_clusters(rel) AS TABLE
WITH given AS (
    FROM query_table(rel)
    UNION ALL BY NAME
    SELECT NULL::VARCHAR AS stratum WHERE false
),
members AS (
    SELECT
        g,
        cluster,
        CASE
            WHEN count(DISTINCT coalesce(stratum::VARCHAR, '')) = 1 THEN any_value(stratum::VARCHAR)
            ELSE error('bootstrap: every cluster must lie in one stratum')
        END AS stratum
    FROM given
    GROUP BY g, cluster
),
layouts AS (
    SELECT
        g,
        list(cluster ORDER BY cluster) AS clusters,
        list(stratum ORDER BY cluster) AS strata
    FROM members
    GROUP BY g
),
numbered AS (
    SELECT *, dense_rank() OVER (ORDER BY clusters, strata) - 1 AS layout FROM layouts
)
SELECT
    layout,
    g,
    unnest(clusters) AS cluster,
    unnest(strata) AS stratum,
    generate_subscripts(clusters, 1) - 1 AS position,
    position // 256 AS block
FROM numbered;
