-- purpose: role credit and ranking of the two units of every matched pair
-- grain: one row per group g and matched pair
-- paper: appendix F (magnitude-matched pairs)
-- units names a relation with columns g (group, such as a method), unit, labels (list of 0 or 1, one
-- per behaviour) and scores (list as long, or of one score that stands for all). pairs names one
-- with columns unit_a and unit_b, from decaf.evaluation.matching; every group is judged on all of them.
-- FROM matched_pair_values('my_units', 'my_pairs')
CREATE OR REPLACE MACRO matched_pair_values(units, pairs) AS TABLE
WITH given AS (
    SELECT g, unit, labels, scores_per_label(scores, labels) AS scores FROM query_table(units)
),
judged AS MATERIALIZED (SELECT *, role_credit(scores, labels) AS credit FROM given),
matched AS (
    SELECT g, unit_a, unit_b
    FROM (SELECT DISTINCT g FROM judged)
    CROSS JOIN query_table(pairs)
),
sides AS (
    SELECT
        matched.*,
        CASE
            WHEN a.unit IS NOT NULL AND b.unit IS NOT NULL THEN a.credit
            ELSE error(format('matched_pair_values: a unit of the pair {}, {} is not among the '
                || 'units of its group', unit_a::VARCHAR, unit_b::VARCHAR))
        END AS credit_a,
        b.credit AS credit_b,
        label_wins(a.labels, a.scores, b.labels, b.scores) AS wins
    FROM matched
    LEFT JOIN judged AS a ON a.g IS NOT DISTINCT FROM matched.g AND a.unit = unit_a
    LEFT JOIN judged AS b ON b.g IS NOT DISTINCT FROM matched.g AND b.unit = unit_b
)
SELECT
    g,
    unit_a,
    unit_b,
    credit_a, -- share of the largest scores that name a behaviour which the unit shows
    credit_b,
    (credit_a + credit_b) / 2 AS value, -- NULL where either misses a score
    coalesce(list_sum(wins), 0)::DOUBLE AS ranking_wins, -- a tie counts half
    len(list_filter(wins, lambda win: win IS NOT NULL)) AS ranking_count -- labels that differ
FROM sides;
