-- purpose: how often every bootstrap replicate drew each cluster of a layout
-- grain: one row per layout, replicate and block of 256 clusters
-- inputs: none
-- paper: appendix D.8 (statistical summaries)
-- layouts names a relation with columns layout, position and stratum. The draw at a position is a
-- cluster of its stratum, chosen by the hash of text as in bootstrap_draws: without strata the
-- draws are the same.
CREATE OR REPLACE MACRO bootstrap_layout_weights(layouts, replicates, seed) AS TABLE
WITH strata AS (
    SELECT layout, list(position ORDER BY position) AS members
    FROM query_table(layouts)
    GROUP BY layout, stratum
),
draws AS (
    SELECT
        layout,
        replicate,
        members[(hash(concat_ws(':', seed, replicate, place)) % len(members))::BIGINT + 1] AS drawn
    FROM (SELECT layout, members, unnest(members) AS place FROM strata)
    CROSS JOIN range(replicates) AS replicate_numbers (replicate)
),
drawn AS (
    SELECT layout, replicate, drawn AS position, count(*) AS draw_count
    FROM draws
    GROUP BY layout, replicate, drawn
),
every_cluster AS (
    SELECT layout, position, replicate
    FROM query_table(layouts)
    CROSS JOIN range(replicates) AS replicate_numbers (replicate)
)
SELECT
    layout,
    replicate::BIGINT AS replicate,
    position // 256 AS block,
    list(coalesce(draw_count, 0)::DOUBLE ORDER BY position) AS weights
FROM every_cluster
LEFT JOIN drawn USING (layout, replicate, position)
GROUP BY layout, replicate, block;
