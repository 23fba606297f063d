-- purpose: paired difference of the means of two models, resampling the sources they share draws of
-- grain: one row per study, pair type, path, metric and level
-- inputs: core_profiles, bootstrap_means_of, by_metric, mean_differences
-- paper: appendix D.8 (statistical summaries)
-- Both means of a replicate come from the same drawn sources; all are in score units.
-- FROM model_differences('resnet50', 'swin_t', 500, 91702, [0.9, 0.95])
CREATE OR REPLACE MACRO model_differences(model_a, model_b, replicates, seed, levels) AS TABLE
WITH profiles AS (FROM core_profiles WHERE model_id IN (model_a, model_b)),
means AS (FROM bootstrap_means_of('profiles', replicates, seed)),
sides AS MATERIALIZED (
    SELECT
        {study: study, pair_type: pair_type, path: path, metric: metric} AS g,
        model_id AS side, replicate, source_count, mean
    FROM by_metric('means')
)
SELECT unnest(g), * EXCLUDE (g) FROM mean_differences('sides', model_a, model_b, levels);
