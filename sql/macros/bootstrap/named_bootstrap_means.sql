-- purpose: mean of x in every bootstrap replicate, with draws fixed by a name and a seed
-- grain: one row per group g and replicate; replicate NULL is the sample itself
-- paper: appendix H (paired image-cluster bootstrap)
-- rel names a relation with columns g (group, any type), name, cluster (unique in its group) and x.
-- The order of clusters is that of their names. Groups with the same name and number of clusters
-- share their draws, so differences between them are paired. A cluster with NULL or NaN counts in
-- no mean, but is still drawn.
-- FROM named_bootstrap_means('my_rows', 1000, 8218)
CREATE OR REPLACE MACRO named_bootstrap_means(rel, replicates, seed) AS TABLE
WITH gathered AS (
    SELECT name, list(x::DOUBLE ORDER BY cluster) AS xs,
        {g: g, cluster_count: count(*) FILTER (NOT isnan(x::DOUBLE))} AS known
    FROM query_table(rel)
    GROUP BY g, name
),
-- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
named AS (
    SELECT name, list(known) AS groups, list(xs) AS columns FROM gathered GROUP BY name, len(xs)
),
means AS (
    SELECT unnest(groups) AS known, unnest(named_means(name, seed, replicates, columns)) AS means
    FROM named
)
SELECT
    known.g AS g,
    nullif(generate_subscripts(means, 1), 1) - 2 AS replicate,
    unnest(means) AS value, -- NULL if all drawn numbers are missing
    known.cluster_count AS cluster_count -- clusters with a number
FROM means;
