-- purpose: percentile bootstrap intervals of the model means, resampling sources
-- grain: one row per study, model, pair type, path and metric
-- inputs: core_model_metrics, bootstrap_means
-- paper: appendix D.8 (statistical summaries)
-- A single source says nothing about other sources: its interval is NULL, not of width 0.
-- FROM model_intervals(2000, 7)
CREATE OR REPLACE MACRO model_intervals(replicates, seed) AS TABLE
WITH replicates_of_means AS (FROM bootstrap_means(replicates, seed)),
resampled AS (
    SELECT
        study,
        model_id,
        pair_type,
        path,
        metric,
        count(mean) AS replicate_count,
        stddev_samp(mean) AS standard_error,
        quantile_cont(mean, [0.025, 0.05, 0.95, 0.975]) AS quantiles
    FROM replicates_of_means
    UNPIVOT (mean FOR metric IN (
        endpoint_magnitude, evidence, contradiction, fragility, abs_response
    ))
    GROUP BY study, model_id, pair_type, path, metric
)
SELECT
    study,
    model_id,
    pair_type,
    path,
    metric,
    sample.mean AS estimate, -- score units, as the interval
    CASE WHEN source_count > 1 THEN standard_error END AS standard_error,
    CASE WHEN source_count > 1 THEN quantiles[2] END AS lower_90,
    CASE WHEN source_count > 1 THEN quantiles[3] END AS upper_90,
    CASE WHEN source_count > 1 THEN quantiles[1] END AS lower_95,
    CASE WHEN source_count > 1 THEN quantiles[4] END AS upper_95,
    source_count,
    replicate_count -- those in which the model had any source
FROM core_model_metrics AS sample
JOIN resampled USING (study, model_id, pair_type, path, metric);
