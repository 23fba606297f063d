-- purpose: AUROC and AUPRC of every method and label, in replicates that draw whole models
-- grain: one row per study, bin, method, label, measure and replicate; NULL is the sample itself
-- paper: section 6.1; section 6.2; appendix F (statistical reporting)
-- rel names a relation with columns study, bin, model_id, method, label, is_shown and score. All
-- methods, labels and bins of a study share their draws, so differences are paired.
CREATE OR REPLACE MACRO label_discrimination(rel, measures, replicates, seed) AS TABLE
WITH entries AS MATERIALIZED (
    SELECT
        study AS layout, {bin: bin, method: method, label: label} AS g, model_id AS cluster,
        is_shown AS label, score
    FROM query_table(rel)
),
counts AS (
    SELECT
        layout,
        g,
        count(score) FILTER (label) AS positive_count,
        count(score) FILTER (NOT label) AS negative_count,
        count(DISTINCT cluster) AS model_count
    FROM entries
    GROUP BY layout, g
)
SELECT
    found.layout AS study,
    unnest(found.g),
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
JOIN counts ON counts.layout = found.layout AND counts.g = found.g;
