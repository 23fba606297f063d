-- purpose: profiles of every run whose rows are still there, with what their pair is
-- grain: one row per study, run, model, pair, path and repetition
-- inputs: stg_profiles, stg_run_units, stg_runs, stg_pairs, role_of
-- paper: section 3, equation 1
-- Runs share units: one stored profile is a row of every run that planned it.
CREATE OR REPLACE VIEW core_run_profiles AS
SELECT
    profile.study,
    run.run_id,
    profile.model_id,
    profile.pair_id,
    pair.source_id,
    pair.pair_type,
    profile.path,
    profile.repetition,
    profile.epsilon, -- score units, as all that follow
    profile.endpoint_delta,
    profile.endpoint_magnitude,
    profile.evidence,
    profile.contradiction,
    profile.fragility,
    profile.abs_response,
    profile.is_endpoint_active,
    role_of(abs_response, is_endpoint_active, evidence, contradiction) AS role,
    profile.unit_key
FROM stg_profiles AS profile
JOIN stg_run_units AS unit USING (study, model_id, unit_key)
JOIN stg_runs AS run USING (study, run_id)
JOIN stg_pairs AS pair USING (study, pairs_digest, pair_id);
