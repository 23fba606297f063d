-- purpose: clusters of a layout that every bootstrap replicate draws
-- grain: one row per layout and replicate
-- paper: appendix D.8 (statistical summaries)
-- layouts names a relation with columns layout, position (from 0) and stratum: one row per cluster.
-- Each place draws a cluster of its stratum (drawn_word). The cast of len avoids a division in
-- 128 bits, which takes four times as long.
CREATE OR REPLACE MACRO bootstrap_draws(layouts, replicates, seed) AS TABLE
WITH strata AS (
    SELECT layout, stratum, list(position::INTEGER ORDER BY position) AS members
    FROM query_table(layouts)
    GROUP BY layout, stratum
),
drawn AS (
    SELECT
        layout,
        stratum,
        replicate::BIGINT AS replicate,
        list_select(members, list_transform(
            members,
            lambda place:
                (drawn_word(seed, replicate, place) % len(members)::UBIGINT)::BIGINT + 1
        )) AS positions
    FROM strata
    CROSS JOIN range(replicates) AS replicate_numbers (replicate)
)
SELECT layout, replicate, flatten(list(positions ORDER BY stratum)) AS positions
FROM drawn
GROUP BY layout, replicate;
