-- purpose: sums over the clusters that every bootstrap replicate drew, by group and column
-- grain: one row per group g
-- paper: appendix D.8 (statistical summaries)
-- groups names a relation with g (any type), layout, positions (the cluster of every row) and
-- columns (lists of as many numbers); layouts is as for bootstrap_draws. A list of sums begins with
-- the sample itself; the replicates follow. Groups of a layout share its draws, whatever columns
-- they have.
CREATE OR REPLACE MACRO bootstrap_sums(groups, layouts, replicates, seed) AS TABLE
WITH draws AS (
    SELECT layout, list(positions ORDER BY replicate) AS draws
    FROM bootstrap_draws(layouts, replicates, seed)
    GROUP BY layout
),
-- Lists that one GROUP BY makes without ORDER BY hold its rows in the same order.
gathered AS (
    SELECT layout, list(g) AS gs, list(positions) AS positions, list(columns) AS columns
    FROM query_table(groups)
    GROUP BY layout, len(columns)
)
SELECT unnest(gs) AS g, unnest(resampled_sums(draws, positions, columns)) AS sums
FROM gathered
JOIN draws USING (layout);
