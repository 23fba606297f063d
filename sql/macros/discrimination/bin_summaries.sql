-- purpose: means over magnitude bins and labels in every replicate
-- grain: one row per study, method, part (bin, valid bins, common support), statistic and replicate
-- paper: section 6.2 (figure 3c); appendix F
-- rel names a relation with the columns of label_discrimination, for units that DECAF scores on all
-- labels. DECAF's AUROC is then defined in a bin if some units have the label and others lack it. A
-- bin has common support in a replicate if DECAF's AUROC is defined for all three labels.
CREATE OR REPLACE MACRO bin_summaries(rel) AS TABLE
WITH found AS MATERIALIZED (SELECT *, measure AS statistic FROM query_table(rel)),
support AS MATERIALIZED (
    SELECT study, bin, statistic, replicate AS place, count(value) = 3 AS is_common
    FROM found
    WHERE method = 'DECAF'
    GROUP BY study, bin, statistic, replicate
),
cells AS MATERIALIZED (
    SELECT
        study, method, bin, statistic, replicate, is_common,
        CASE WHEN is_common AND count(value) = 3 THEN avg(value) END AS macro,
        sum(positive_count + negative_count) AS unit_count
    FROM found
    JOIN support USING (study, bin, statistic)
    WHERE replicate IS NOT DISTINCT FROM place
    GROUP BY study, method, bin, statistic, replicate, is_common
),
labels AS (
    SELECT
        study, method, label, statistic, replicate, avg(value) AS mean,
        sum(positive_count + negative_count) AS unit_count
    FROM found
    GROUP BY study, method, label, statistic, replicate
),
valid AS (
    SELECT
        study, method, statistic, replicate,
        CASE WHEN count(mean) = 3 THEN avg(mean) END AS value, sum(unit_count) AS unit_count
    FROM labels
    GROUP BY study, method, statistic, replicate
)
SELECT
    study, method, format('bin {:02d}', bin) AS part, statistic, replicate, macro AS value,
    unit_count, CASE WHEN is_common THEN 'a label is undefined' ELSE 'not common support' END
        AS undefined
FROM cells
UNION ALL
SELECT study, method, 'valid bins', statistic, replicate, value, unit_count,
    'a label is defined in no bin'
FROM valid
UNION ALL
SELECT
    study, method, 'common support', statistic, replicate,
    CASE WHEN count(macro) = count(*) FILTER (is_common) THEN avg(macro) END,
    sum(unit_count),
    CASE
        WHEN count(*) FILTER (is_common) = 0 THEN 'no bin of common support'
        ELSE 'a label is undefined in a bin of common support'
    END
FROM cells
GROUP BY study, method, statistic, replicate;
