-- purpose: AUROC and AUPRC of every method and label, in replicates that draw whole models
-- grain: one row per study, bin, method, label, measure and replicate; NULL is the sample itself
-- inputs: discrimination_replicates
-- paper: section 6.1; section 6.2; appendix F (statistical reporting)
-- rel names a relation with columns study, bin, model_id, method, label, is_shown and score. All
-- methods, labels and bins of a study share their draws, so that differences are paired.
CREATE OR REPLACE MACRO label_discrimination(rel, measures, replicates, seed) AS TABLE
WITH units AS MATERIALIZED (
    SELECT
        study, bin, model_id, method, label, is_shown, score,
        dense_rank() OVER (ORDER BY study, bin, method, label) AS number
    FROM query_table(rel)
),
entries AS (
    SELECT study AS layout, number AS g, model_id AS cluster, is_shown AS label, score FROM units
),
counts AS (
    SELECT
        number, study, bin, method, label,
        count(score) FILTER (is_shown) AS positive_count,
        count(score) FILTER (NOT is_shown) AS negative_count,
        count(DISTINCT model_id) AS model_count
    FROM units
    GROUP BY number, study, bin, method, label
)
SELECT
    study,
    bin,
    method,
    label,
    measure,
    replicate,
    value,
    positive_count, -- of the sample; units with a score
    negative_count,
    model_count,
    CASE
        WHEN positive_count + negative_count = 0 THEN 'no unit with a score'
        WHEN positive_count = 0 THEN 'no positive unit'
        WHEN negative_count = 0 THEN 'no negative unit'
    END AS reason -- why the sample's measures are NULL
FROM discrimination_replicates('entries', measures, replicates, seed) AS found
JOIN counts ON number = g;
