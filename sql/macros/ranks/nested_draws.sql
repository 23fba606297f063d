-- purpose: which clusters every replicate of a nested bootstrap draws: groups, then their members
-- grain: one row per layout and replicate
-- inputs: none
-- paper: appendix I (joint family and seed bootstrap)
-- layouts names a relation with columns layout and sizes: a list of how many clusters each group
-- has. Positions count from 0 through all groups. Every place draws a group, and each place in it
-- a cluster: a group that is drawn twice draws its clusters anew. Draws are hashes of text, as
-- those of bootstrap_draws.
CREATE OR REPLACE MACRO nested_draws(layouts, replicates, seed) AS TABLE
WITH places AS (
    SELECT
        layout,
        sizes,
        replicate::BIGINT AS replicate,
        unnest(range(len(sizes))) AS place,
        (hash(concat_ws(':', seed, replicate, place)) % len(sizes)::UBIGINT)::BIGINT + 1 AS drawn
    FROM query_table(layouts)
    CROSS JOIN range(replicates) AS replicate_numbers (replicate)
),
members AS (
    SELECT
        layout,
        replicate,
        place,
        coalesce(list_sum(sizes[:drawn - 1]), 0)::BIGINT AS first,
        sizes[drawn] AS size
    FROM places
)
SELECT
    layout,
    replicate,
    flatten(list(
        list_transform(
            range(size),
            lambda inside:
                first + (hash(concat_ws(':', seed, replicate, place, inside)) % size::UBIGINT)::BIGINT
        ) ORDER BY place
    )) AS positions
FROM members
GROUP BY layout, replicate;
