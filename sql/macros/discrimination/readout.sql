-- purpose: fixed semantics: how well each method's score separates each label, over all units
-- grain: one row per study, method, part (a label, or macro), statistic and replicate
-- paper: section 6.1 (figure 3a); appendix I (fixed columns)
-- rel names a relation with the columns of core_unit_scores. The macro is the mean over the three
-- labels, undefined unless all are defined. Replicates draw models; NULL is the sample.
-- FROM readout('my_units', ['auroc'], 500, 91702)
CREATE OR REPLACE MACRO readout(rel, measures, replicates, seed) AS TABLE
WITH in_one_bin AS (SELECT * REPLACE (0 AS bin) FROM query_table(rel)),
by_label AS MATERIALIZED (FROM label_discrimination('in_one_bin', measures, replicates, seed))
SELECT
    study, method, label AS part, measure AS statistic, replicate, value,
    positive_count + negative_count AS unit_count, -- with a score; the macro has the smallest
    model_count AS cluster_count,
    reason AS undefined
FROM by_label
UNION ALL
SELECT
    study, method, 'macro', measure, replicate, CASE WHEN count(value) = 3 THEN avg(value) END,
    min(positive_count + negative_count), max(model_count), min(label || ': ' || reason)
FROM by_label
GROUP BY study, method, measure, replicate;
