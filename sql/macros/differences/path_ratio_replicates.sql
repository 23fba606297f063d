-- purpose: ratio of the means over models between two paths in every replicate
-- grain: one row per study, pair type, two paths, metric, what is resampled and replicate
-- paper: section 6.3 (response composition); appendix D.8
-- Replicate NULL is the sample itself, and clusters are models or sources. When sources are
-- resampled, all models and both paths share the drawn ones; a model without any of them is in
-- neither mean.
-- FROM path_ratio_replicates(500, 91702)
CREATE OR REPLACE MACRO path_ratio_replicates(replicates, seed) AS TABLE
WITH profiles AS (FROM core_profiles),
means AS (FROM bootstrap_means_of('profiles', replicates, seed)),
entries AS MATERIALIZED (FROM by_metric('means') WHERE mean IS NOT NULL),
paired AS MATERIALIZED (
    SELECT
        {
            study: study, pair_type: pair_type, metric: metric, path_a: a.path, path_b: b.path
        } AS g,
        a.replicate AS replicate,
        model_id AS cluster,
        b.mean AS x,
        a.mean AS y,
        greatest(a.source_count, b.source_count) AS source_count
    FROM entries AS a
    JOIN entries AS b USING (study, model_id, pair_type, metric)
    WHERE a.path < b.path AND a.replicate IS NOT DISTINCT FROM b.replicate
),
sample AS (SELECT g, cluster, x, y FROM paired WHERE replicate IS NULL)
SELECT g, 'models' AS resampled, replicate, value, cluster_count
FROM bootstrap_replicates('sample', replicates, seed)
WHERE statistic = 'ratio'
UNION ALL
SELECT g, 'sources', replicate, avg(x) / nullif(avg(y), 0), max(source_count)
FROM paired
GROUP BY g, replicate;
