-- purpose: clean accuracy by variant, and the background gap: Mixed-Same minus Mixed-Rand
-- grain: one row per study of ImageNet-9, statistic, variant, and model or all models
-- paper: section 6 (setup); appendix F
-- It checks data and models before other results. Intervals are of the mean over models and
-- resample models.
CREATE OR REPLACE VIEW paper_imagenet9_accuracy AS
WITH tested AS (FROM out_accuracy SEMI JOIN paper_imagenet9_data USING (study)),
entries AS MATERIALIZED (
    SELECT {study: study, statistic: 'accuracy', variant: variant} AS g, model_id AS cluster,
        accuracy AS x
    FROM tested
    UNION ALL
    SELECT
        {study: study, statistic: 'background gap', variant: 'mixed_same - mixed_rand'},
        model_id,
        same.accuracy - rand.accuracy
    FROM tested AS same
    JOIN tested AS rand USING (study, model_id)
    WHERE same.variant = 'mixed_same' AND rand.variant = 'mixed_rand'
),
rows_of_table AS (
    SELECT * REPLACE (replace(reason, 'cluster', 'model') AS reason), NULL AS model_id
    FROM bootstrap_intervals('entries', 500, 91702)
    WHERE statistic = 'mean'
    UNION ALL BY NAME
    SELECT g, cluster AS model_id, x AS estimate FROM entries
)
SELECT
    unnest(g),
    model_id, -- NULL is the mean over models
    estimate, -- share of images, or difference of two shares
    lower_90,
    upper_90,
    lower_95,
    upper_95,
    NULL::DOUBLE AS published,
    reason
FROM rows_of_table
ORDER BY g.study, g.statistic, g.variant, model_id NULLS FIRST;
