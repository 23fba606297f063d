-- purpose: AUROC and AUPRC by group, ties counted half and taken together
-- grain: one row per group g
-- paper: section 6.2; appendix F
-- rel names a relation with columns g (group, any type), label (0 or 1, or BOOLEAN) and score. Rows
-- where label or score is NULL, or score NaN, are left out. One class alone is undefined, not 0.5.
-- FROM discrimination_by_group('my_units')
CREATE OR REPLACE MACRO discrimination_by_group(rel) AS TABLE
WITH units AS (
    SELECT
        g,
        CASE WHEN NOT isnan(score::DOUBLE) THEN score::DOUBLE END AS score,
        CASE
            WHEN label::DOUBLE IN (0, 1) OR label IS NULL THEN label::DOUBLE
            ELSE error('discrimination_by_group: every label must be 0 or 1')
        END AS label
    FROM query_table(rel)
),
-- Lists that one GROUP BY makes without ORDER BY hold its rows in the same order.
groups AS (
    SELECT
        g,
        count(score) FILTER (label = 1) AS positive_count,
        count(score) FILTER (label = 0) AS negative_count,
        list(0::INTEGER) AS positions,
        list(label) AS labels,
        list(score) AS scores
    FROM units
    GROUP BY g
),
-- All units are one cluster, and the only draw is the sample again.
judged AS (
    SELECT
        list({g: g, positive_count: positive_count, negative_count: negative_count}) AS groups,
        resampled_discrimination(
            [[0]], list(positions), list(labels), list(scores), ['auroc', 'auprc']
        ) AS found
    FROM groups
),
flat AS (SELECT unnest(groups, max_depth := 2), unnest(found) AS found FROM judged)
SELECT
    g,
    positive_count,
    negative_count,
    found[1][1] AS auroc,
    found[2][1] AS auprc,
    CASE
        WHEN positive_count + negative_count = 0 THEN 'no unit with a label and a score'
        WHEN positive_count = 0 THEN 'no positive unit'
        WHEN negative_count = 0 THEN 'no negative unit'
    END AS reason
FROM flat;
