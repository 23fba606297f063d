-- purpose: mean profile of every model with percentile bootstrap intervals, resampling sources
-- grain: one row per study, model, pair type and path
-- paper: appendix D.8 (statistical summaries)
-- rel names a relation with the columns of core_profiles. A metric is a STRUCT of its estimate and
-- what replicates say of it. A single source says nothing about other sources: its interval is NULL,
-- not of width 0. So is that of a model that stopped early, whose limits are in out_looks.
-- FROM model_summaries('my_profiles', 2000, 7)

-- Aggregate over the sample (replicate NULL) and its replicates.
CREATE OR REPLACE MACRO summary_of(means, replicate) AS {
    estimate: any_value(means) FILTER (replicate IS NULL),
    standard_error: stddev_samp(means) FILTER (replicate IS NOT NULL),
    quantiles: quantile_cont(means, [0.025, 0.05, 0.95, 0.975]) FILTER (replicate IS NOT NULL),
    replicate_count: count(means) FILTER (replicate IS NOT NULL)
};
CREATE OR REPLACE MACRO with_interval_if(summary, has_interval) AS {
    estimate: summary.estimate, -- score units, as the interval
    standard_error: CASE WHEN has_interval THEN summary.standard_error END,
    lower_90: CASE WHEN has_interval THEN summary.quantiles[2] END,
    upper_90: CASE WHEN has_interval THEN summary.quantiles[3] END,
    lower_95: CASE WHEN has_interval THEN summary.quantiles[1] END,
    upper_95: CASE WHEN has_interval THEN summary.quantiles[4] END,
    replicate_count: summary.replicate_count -- those in which the model had any source
};

CREATE OR REPLACE MACRO model_summaries(rel, replicates, seed) AS TABLE
WITH stopped AS (SELECT DISTINCT study, model_id FROM out_stops),
-- All metrics in one pass: grouping five times as many rows takes five times as long.
summarised AS (
    SELECT
        study, model_id, pair_type, path, source_count,
        any_value(pair_count) AS pair_count,
        any_value(active_frac) AS active_frac,
        summary_of(COLUMNS([
            'endpoint_delta', 'endpoint_magnitude', 'evidence', 'contradiction', 'fragility',
            'abs_response'
        ]), replicate)
    FROM bootstrap_means_of(rel, replicates, seed)
    GROUP BY study, model_id, pair_type, path, source_count
),
judged AS (
    SELECT summarised.*, source_count > 1 AND stopped.model_id IS NULL AS has_interval
    FROM summarised LEFT JOIN stopped USING (study, model_id)
)
SELECT
    study, model_id, pair_type, path, pair_count, active_frac, source_count,
    with_interval_if(
        COLUMNS([
            'endpoint_delta', 'endpoint_magnitude', 'evidence', 'contradiction', 'fragility',
            'abs_response'
        ]),
        has_interval
    )
FROM judged;
