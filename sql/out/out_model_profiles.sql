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
        pair_count_of(pair_id, repetition_count) AS pair_count,
        weighted_mean(is_endpoint_active::INTEGER, weight) AS active_frac,
        weighted_mean(COLUMNS([
            'endpoint_delta', 'endpoint_magnitude', 'evidence', 'contradiction', 'fragility',
            'abs_response', 'net_response'
        ]), weight)
    FROM core_profiles
    LEFT JOIN core_paths USING (study, run_id, path)
    GROUP BY study, run_id, model_id, pair_type, path
)
SELECT
    means.study,
    means.model_id,
    model.family,
    model.position, -- order in the configuration, from 0
    means.pair_type,
    means.path,
    -- Means in score units. The sign of endpoint_delta is the direction of the effect.
    means.* EXCLUDE (study, run_id, model_id, pair_type, path),
    means.evidence / nullif(means.abs_response, 0) AS evidence_frac, -- of Abs; NULL if Abs = 0
    means.contradiction / nullif(means.abs_response, 0) AS contradiction_frac,
    means.fragility / nullif(means.abs_response, 0) AS fragility_frac
FROM means
LEFT JOIN stg_models AS model USING (study, run_id, model_id)
ORDER BY means.study, model.position, means.model_id, means.pair_type, means.path;
