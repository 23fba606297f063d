-- purpose: paired difference of the means of every model on two paths, resampling sources
-- grain: one row per study, pair type, model, metric and level
-- inputs: core_profiles, bootstrap_means_of, by_metric, mean_differences
-- paper: appendix D.8 (statistical summaries)
-- Both means of a replicate come from the same drawn sources; all are in score units.
-- FROM path_differences('blend', 'patch_a', 500, 91702, [0.9, 0.95])
CREATE OR REPLACE MACRO path_differences(path_a, path_b, replicates, seed, levels) AS TABLE
WITH profiles AS (FROM core_profiles WHERE path IN (path_a, path_b)),
means AS (FROM bootstrap_means_of('profiles', replicates, seed)),
sides AS MATERIALIZED (
    SELECT
        {study: study, pair_type: pair_type, model_id: model_id, metric: metric} AS g,
        path AS side, replicate, source_count, mean
    FROM by_metric('means')
)
SELECT unnest(g), * EXCLUDE (g) FROM mean_differences('sides', path_a, path_b, levels);
