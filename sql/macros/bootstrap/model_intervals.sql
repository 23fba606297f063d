-- purpose: percentile bootstrap intervals of the model means, resampling sources
-- grain: one row per study, model, pair type, path and metric
-- paper: appendix D.8 (statistical summaries)
-- The interval of a single source is NULL, not of width 0. The interval of a model that stopped
-- early is NULL, too; out_looks has its limits.
-- FROM model_intervals(2000, 7)

-- Aggregate over the sample (replicate NULL) and its replicates.
CREATE OR REPLACE MACRO interval_of(means, replicate) AS {
    estimate: any_value(means) FILTER (replicate IS NULL),
    standard_error: stddev_samp(means) FILTER (replicate IS NOT NULL),
    quantiles: quantile_cont(means, [0.025, 0.05, 0.95, 0.975]) FILTER (replicate IS NOT NULL),
    replicate_count: count(means) FILTER (replicate IS NOT NULL)
};

CREATE OR REPLACE MACRO model_intervals(replicates, seed) AS TABLE
WITH profiles AS (FROM core_profiles),
stopped AS (SELECT DISTINCT study, model_id FROM out_stops),
-- One pass for all metrics: to group a row for each metric takes five times as long.
summarised AS (
    SELECT
        study, model_id, pair_type, path, source_count,
        interval_of(COLUMNS(* EXCLUDE (
            study, model_id, pair_type, path, source_count, replicate
        )), replicate)
    FROM bootstrap_means_of('profiles', replicates, seed)
    GROUP BY study, model_id, pair_type, path, source_count
),
judged AS (
    SELECT *, source_count > 1 AND stopped.model_id IS NULL AS has_interval
    FROM summarised LEFT JOIN stopped USING (study, model_id)
)
SELECT
    study,
    model_id,
    pair_type,
    path,
    metric,
    of_metric.estimate, -- score units, as the interval
    CASE WHEN has_interval THEN of_metric.standard_error END AS standard_error,
    CASE WHEN has_interval THEN of_metric.quantiles[2] END AS lower_90,
    CASE WHEN has_interval THEN of_metric.quantiles[3] END AS upper_90,
    CASE WHEN has_interval THEN of_metric.quantiles[1] END AS lower_95,
    CASE WHEN has_interval THEN of_metric.quantiles[4] END AS upper_95,
    source_count,
    of_metric.replicate_count -- replicates in which the model had any source
FROM judged
UNPIVOT (of_metric FOR metric IN (
    endpoint_delta, endpoint_magnitude, evidence, contradiction, fragility, abs_response
));
