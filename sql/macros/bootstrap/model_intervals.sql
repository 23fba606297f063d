-- purpose: percentile bootstrap intervals of the model means, resampling sources
-- grain: one row per study, model, pair type, path and metric
-- paper: appendix D.8 (statistical summaries)
-- FROM model_intervals(2000, 7)
CREATE OR REPLACE MACRO model_intervals(replicates, seed) AS TABLE
WITH profiles AS (FROM core_profiles),
summaries AS (FROM model_summaries('profiles', replicates, seed))
SELECT
    study,
    model_id,
    pair_type,
    path,
    metric,
    summary.estimate AS estimate, -- score units, as the interval
    summary.standard_error AS standard_error, -- NULL without an interval
    summary.lower_90 AS lower_90,
    summary.upper_90 AS upper_90,
    summary.lower_95 AS lower_95,
    summary.upper_95 AS upper_95,
    source_count,
    summary.replicate_count AS replicate_count -- those in which the model had any source
FROM summaries
UNPIVOT (summary FOR metric IN (
    endpoint_delta, endpoint_magnitude, evidence, contradiction, fragility, abs_response
));
