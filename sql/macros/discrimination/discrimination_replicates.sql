-- purpose: AUROC and AUPRC in every bootstrap replicate, by group
-- grain: one row per layout, group g, measure and replicate; replicate NULL is the sample itself
-- paper: appendix F (statistical reporting); appendix D.8
-- rel names a relation with columns layout (groups of a layout share their draws), g (any type),
-- cluster, label (0 or 1, or BOOLEAN) and score, one row per unit. The bootstrap draws whole
-- clusters from all groups of a layout. A unit whose label or score is NULL is left out. AUROC
-- without AUPRC, measures ['auroc'], is many times faster.
-- FROM discrimination_replicates('my_units', ['auroc', 'auprc'], 500, 91702)
CREATE OR REPLACE MACRO discrimination_replicates(rel, measures, replicates, seed) AS TABLE
WITH units AS MATERIALIZED (
    SELECT layout, g, cluster, label::DOUBLE AS label, score::DOUBLE AS score
    FROM query_table(rel)
),
places AS MATERIALIZED (
    SELECT
        layout,
        cluster,
        row_number() OVER (PARTITION BY layout ORDER BY cluster) - 1 AS position,
        0 AS stratum
    FROM (SELECT DISTINCT layout, cluster FROM units)
),
draws AS (
    SELECT layout, list(positions ORDER BY replicate) AS draws
    FROM bootstrap_draws('places', replicates, seed)
    GROUP BY layout
),
-- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
groups AS (
    SELECT
        layout, g, list(position::INTEGER) AS positions, list(label) AS labels, list(score) AS scores
    FROM units
    JOIN places USING (layout, cluster)
    GROUP BY layout, g
),
layouts AS (
    SELECT
        layout, list(g) AS gs, list(positions) AS positions, list(labels) AS labels,
        list(scores) AS scores
    FROM groups
    GROUP BY layout
),
judged AS (
    SELECT
        layout,
        unnest(gs) AS g,
        unnest(resampled_discrimination(draws, positions, labels, scores, measures)) AS found
    FROM layouts
    JOIN draws USING (layout)
),
by_measure AS (SELECT layout, g, unnest(measures) AS measure, unnest(found) AS found FROM judged)
SELECT
    layout,
    g,
    measure,
    nullif(generate_subscripts(found, 1), 1) - 2 AS replicate,
    unnest(found) AS value -- 0 to 1; NULL with fewer than two classes among the drawn units
FROM by_measure;
