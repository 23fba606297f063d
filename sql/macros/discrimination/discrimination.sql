-- purpose: AUROC and AUPRC by group; ties count half in AUROC, and are one threshold in AUPRC
-- grain: one row per group g
-- paper: section 6.2; appendix F
-- rel names a relation with columns g (group, any type), label (0 or 1, or BOOLEAN) and score. Rows
-- with a NULL label, or a score of NULL or NaN, are left out. With one class, both are undefined.
-- FROM discrimination_by_group('my_units')
CREATE OR REPLACE MACRO discrimination_by_group(rel) AS TABLE
WITH units AS MATERIALIZED (
    SELECT
        0 AS layout,
        g,
        0 AS cluster, -- one cluster, so the only draw is the sample
        CASE WHEN NOT isnan(score::DOUBLE) THEN score::DOUBLE END AS score,
        CASE
            WHEN label::DOUBLE IN (0, 1) OR label IS NULL THEN label::DOUBLE
            ELSE error('discrimination_by_group: every label must be 0 or 1')
        END AS label
    FROM query_table(rel)
),
counts AS (
    SELECT
        g,
        count(score) FILTER (label = 1) AS positive_count,
        count(score) FILTER (label = 0) AS negative_count
    FROM units
    GROUP BY g
),
areas AS (
    SELECT
        g,
        any_value(value) FILTER (measure = 'auroc') AS auroc,
        any_value(value) FILTER (measure = 'auprc') AS auprc
    FROM discrimination_replicates('units', ['auroc', 'auprc'], 1, 0)
    WHERE replicate IS NULL
    GROUP BY g
)
SELECT
    counts.*,
    auroc,
    auprc,
    CASE
        WHEN positive_count + negative_count = 0 THEN 'no unit with a label and a score'
        WHEN positive_count = 0 THEN 'no positive unit'
        WHEN negative_count = 0 THEN 'no negative unit'
    END AS reason
FROM counts
JOIN areas ON areas.g IS NOT DISTINCT FROM counts.g;
