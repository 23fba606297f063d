-- purpose: mean profile of every model, with intervals of Abs and of the final difference
-- grain: one row per study, model, pair type and path
-- paper: section 6; appendix D.8 (statistical summaries)
-- All is of one pass over the profiles; the draws are those of out_model_intervals.
CREATE OR REPLACE VIEW core_model_summaries AS
WITH profiles AS (FROM core_profiles)
SELECT
    study, model_id, pair_type, path,
    pair_count, active_frac,
    abs_response.estimate AS abs_response, -- score units, as what follows
    abs_response.lower_95 AS lower_95, -- NULL without an interval
    abs_response.upper_95 AS upper_95,
    evidence.estimate AS evidence,
    contradiction.estimate AS contradiction,
    fragility.estimate AS fragility,
    endpoint_delta.estimate AS endpoint_delta,
    endpoint_delta.lower_95 AS delta_lower_95,
    endpoint_delta.upper_95 AS delta_upper_95,
    endpoint_magnitude.estimate AS endpoint_magnitude
FROM model_summaries('profiles', 500, 91702);
