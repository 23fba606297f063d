-- purpose: AUROC and AUPRC by group, ties counted half and taken together
-- grain: one row per group g
-- inputs: none
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
            WHEN label::DOUBLE IN (0, 1) OR label IS NULL THEN label::DOUBLE = 1
            ELSE error('discrimination_by_group: every label must be 0 or 1')
        END AS is_positive
    FROM query_table(rel)
),
levels AS (
    SELECT
        g,
        score,
        count(*) FILTER (score IS NOT NULL AND is_positive) AS positives,
        count(*) FILTER (score IS NOT NULL AND NOT is_positive) AS negatives
    FROM units
    GROUP BY g, score
),
running AS (
    SELECT
        *,
        sum(positives) OVER downwards AS hits, -- at this score or above
        sum(negatives) OVER downwards AS false_alarms,
        sum(negatives) OVER (PARTITION BY g) - false_alarms AS below
    FROM levels
    WINDOW downwards AS (PARTITION BY g ORDER BY score DESC NULLS FIRST)
),
groups AS (
    SELECT
        g,
        sum(positives)::BIGINT AS positive_count,
        sum(negatives)::BIGINT AS negative_count,
        sum(positives * (below + negatives / 2)) AS wins,
        sum(positives * (hits / nullif(hits + false_alarms, 0))) AS gains
    FROM running
    GROUP BY g
)
SELECT
    g,
    positive_count,
    negative_count,
    CASE
        WHEN positive_count > 0 THEN wins / nullif(positive_count::DOUBLE * negative_count, 0)
    END AS auroc,
    CASE WHEN negative_count > 0 THEN gains / nullif(positive_count, 0) END AS auprc,
    CASE
        WHEN positive_count + negative_count = 0 THEN 'no unit with a label and a score'
        WHEN positive_count = 0 THEN 'no positive unit'
        WHEN negative_count = 0 THEN 'no negative unit'
    END AS reason
FROM groups;
