-- purpose: profiles of some runs, with properties of the pair
-- grain: one row per study, run, model, pair, path and repetition
-- paper: section 3, equation 1
-- runs names a relation with columns study, run_id and pairs_digest. Runs share units, so
-- a stored profile is a row of each run that planned it.
-- FROM profiles_in_runs('stg_runs')
CREATE OR REPLACE MACRO profiles_in_runs(runs) AS TABLE
SELECT
    study, run_id, profile.model_id, pair_id,
    pair.source_id, pair.pair_type, pair.class_id, pair.weight,
    profile.* EXCLUDE (study, model_id, pair_id, unit_key), -- most in score units
    role_of(abs_response, is_endpoint_active, evidence, contradiction) AS role,
    unit_key
FROM stg_profiles AS profile
JOIN stg_run_units AS unit USING (study, model_id, unit_key)
JOIN query_table(runs) AS run USING (study, run_id)
JOIN stg_pairs AS pair USING (study, pairs_digest, pair_id);
