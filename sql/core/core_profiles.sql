-- purpose: profiles of the current runs at the run's epsilon, with what their pair is
-- grain: one row per study, model, pair, path and repetition
-- inputs: stg_profiles, core_run_units, core_pairs, role_of
-- paper: section 3, equation 1
CREATE OR REPLACE VIEW core_profiles AS
SELECT
    profile.study,
    unit.run_id,
    profile.model_id,
    profile.pair_id,
    pair.source_id,
    pair.pair_type,
    pair.class_id,
    profile.path,
    profile.repetition,
    profile.epsilon, -- score units, as all that follow unless they say otherwise
    profile.endpoint_delta,
    profile.endpoint_magnitude,
    profile.evidence,
    profile.contradiction,
    profile.fragility,
    profile.abs_response,
    profile.net_response,
    profile.sign_flip_frac, -- of the stage measure; NULL on endpoint-null pairs
    profile.opposed_mass,
    profile.is_endpoint_active,
    role_of(abs_response, is_endpoint_active, evidence, contradiction) AS role,
    profile.unit_key
FROM stg_profiles AS profile
JOIN core_run_units AS unit USING (study, model_id, unit_key)
JOIN core_pairs AS pair USING (study, pair_id);
