-- purpose: means of every model on two paths side by side, in the sample and in every replicate
-- grain: one row per group g (study, pair type, metric, two paths), model and replicate
-- paper: section 6.3; appendix D.8
-- Replicates draw sources; replicate NULL is the sample itself. All models and both paths share the
-- drawn ones, and a model without any of them is left out.
CREATE OR REPLACE MACRO path_pair_replicates(replicates, seed) AS TABLE
WITH profiles AS (FROM core_profiles),
means AS (FROM bootstrap_means_of('profiles', replicates, seed)),
entries AS MATERIALIZED (FROM by_metric('means') WHERE mean IS NOT NULL)
SELECT
    {study: study, pair_type: pair_type, metric: metric, path_a: a.path, path_b: b.path} AS g,
    a.replicate AS replicate,
    model_id AS cluster,
    b.mean AS x, -- score units
    a.mean AS y,
    greatest(a.source_count, b.source_count) AS source_count
FROM entries AS a
JOIN entries AS b USING (study, model_id, pair_type, metric)
WHERE a.path < b.path AND a.replicate IS NOT DISTINCT FROM b.replicate;
