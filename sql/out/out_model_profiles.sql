-- purpose: mean profile of every model
-- grain: one row per study, model, pair type and path
-- paper: section 6; appendix C.1
CREATE OR REPLACE VIEW out_model_profiles AS
WITH means AS (
    SELECT
        study,
        run_id,
        model_id,
        pair_type,
        path,
        count(DISTINCT pair_id) AS pair_count,
        avg(is_endpoint_active::INTEGER) AS active_frac,
        avg(endpoint_magnitude) AS endpoint_magnitude,
        avg(evidence) AS evidence,
        avg(contradiction) AS contradiction,
        avg(fragility) AS fragility,
        avg(abs_response) AS abs_response,
        avg(net_response) AS net_response
    FROM core_profiles
    GROUP BY study, run_id, model_id, pair_type, path
)
SELECT
    means.study,
    means.model_id,
    model.family,
    model.position, -- order in the configuration, from 0
    means.pair_type,
    means.path,
    means.pair_count,
    means.active_frac,
    means.endpoint_magnitude, -- score units, as the means that follow
    means.evidence,
    means.contradiction,
    means.fragility,
    means.abs_response,
    means.net_response,
    means.evidence / nullif(means.abs_response, 0) AS evidence_frac, -- of Abs; NULL when Abs = 0
    means.contradiction / nullif(means.abs_response, 0) AS contradiction_frac,
    means.fragility / nullif(means.abs_response, 0) AS fragility_frac
FROM means
LEFT JOIN stg_models AS model USING (study, run_id, model_id)
ORDER BY means.study, model.position, means.model_id, means.pair_type, means.path;
