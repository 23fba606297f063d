-- purpose: ratio of the means over models between two paths in every replicate
-- grain: one row per study, pair type, two paths, metric, what is resampled and replicate
-- inputs: core_path_pairs, bootstrap_replicates, bootstrap_means
-- paper: section 6.3 (response composition); appendix D.8
-- When sources are resampled, all models and both paths share the drawn ones; a model without any of
-- them is in neither mean.
-- FROM path_ratio_replicates(500, 91702)
CREATE OR REPLACE MACRO path_ratio_replicates(replicates, seed) AS TABLE
WITH paired AS (
    SELECT
        {
            study: study, pair_type: pair_type, metric: metric, path_a: path_a, path_b: path_b
        } AS g,
        model_id AS cluster,
        mean_b AS x,
        mean_a AS y
    FROM core_path_pairs
),
means AS (FROM bootstrap_means(replicates, seed)),
by_source AS MATERIALIZED (
    FROM means
    UNPIVOT (mean FOR metric IN (
        endpoint_magnitude, evidence, contradiction, fragility, abs_response
    ))
)
SELECT g, 'models' AS resampled, replicate, value
FROM bootstrap_replicates('paired', replicates, seed)
WHERE statistic = 'ratio' AND replicate IS NOT NULL
UNION ALL
SELECT
    {study: study, pair_type: pair_type, metric: metric, path_a: a.path, path_b: b.path} AS g,
    'sources',
    replicate,
    avg(b.mean) / nullif(avg(a.mean), 0)
FROM by_source AS a
JOIN by_source AS b USING (study, model_id, pair_type, metric, replicate)
WHERE a.path < b.path
GROUP BY g, replicate;
