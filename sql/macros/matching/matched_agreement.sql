-- purpose: how well the role of a score agrees with the behaviours of matched pairs
-- grain: one row per group g
-- paper: appendix F (magnitude-matched pairs)
-- units and pairs are as for matched_pair_values. A pair with a missing score is left out.
-- FROM matched_agreement('my_units', 'my_pairs')
CREATE OR REPLACE MACRO matched_agreement(units, pairs) AS TABLE
WITH judged AS (
    SELECT
        g,
        avg(value) AS accuracy,
        sum(ranking_wins) / nullif(sum(ranking_count), 0) AS ranking_accuracy,
        count(value) AS pair_count,
        sum(ranking_count)::BIGINT AS ranking_count
    FROM matched_pair_values(units, pairs)
    GROUP BY g
),
groups AS (SELECT DISTINCT g FROM query_table(units))
SELECT
    groups.g,
    accuracy, -- mean role credit of the two units, over pairs
    ranking_accuracy, -- how often the unit that has a label scores higher on it
    coalesce(pair_count, 0) AS pair_count,
    coalesce(ranking_count, 0) AS ranking_count, -- pairs and labels that differ, with scores
    CASE
        WHEN judged.pair_count IS NULL THEN 'no matched pair'
        WHEN judged.pair_count = 0 THEN 'no pair without a missing score'
    END AS reason
FROM groups
LEFT JOIN judged ON judged.g IS NOT DISTINCT FROM groups.g;
