-- purpose: paired difference of the means of two models, resampling the sources they share draws of
-- grain: one row per study, pair type, path, metric and level
-- inputs: core_model_metrics, bootstrap_means, percentile_limits
-- paper: appendix D.8 (statistical summaries)
-- Both means of a replicate come from the same drawn sources.
-- FROM model_differences('resnet50', 'swin_t', 500, 91702, [0.9, 0.95])
CREATE OR REPLACE MACRO model_differences(model_a, model_b, replicates, seed, levels) AS TABLE
WITH means AS (FROM bootstrap_means(replicates, seed)),
resampled AS MATERIALIZED (
    FROM means
    UNPIVOT INCLUDE NULLS (mean FOR metric IN (
        endpoint_magnitude, evidence, contradiction, fragility, abs_response
    ))
    WHERE model_id IN (model_a, model_b)
),
entries AS (
    SELECT
        {study: study, pair_type: pair_type, path: path, metric: metric} AS g,
        a.mean - b.mean AS value
    FROM (FROM resampled WHERE model_id = model_a) AS a
    JOIN (FROM resampled WHERE model_id = model_b) AS b
        USING (study, pair_type, path, metric, replicate)
),
samples AS (
    SELECT
        {study: study, pair_type: pair_type, path: path, metric: metric} AS g,
        a.mean AS mean_a,
        b.mean AS mean_b,
        least(a.source_count, b.source_count) AS source_count
    FROM (FROM core_model_metrics WHERE model_id = model_a) AS a
    JOIN (FROM core_model_metrics WHERE model_id = model_b) AS b
        USING (study, pair_type, path, metric)
)
SELECT
    g.study,
    g.pair_type,
    g.path,
    g.metric,
    level,
    mean_a, -- score units, as all that follow
    mean_b,
    mean_a - mean_b AS difference,
    CASE WHEN source_count > 1 THEN standard_error END AS standard_error,
    CASE WHEN source_count > 1 THEN lower_limit END AS lower_limit,
    CASE WHEN source_count > 1 THEN upper_limit END AS upper_limit,
    source_count, -- of the model that has fewer
    replicate_count -- those in which both models have any source
FROM samples
JOIN percentile_limits('entries', levels) USING (g);
