-- purpose: mean response of every model by pair type and path, score units
SELECT study, model_id, pair_type, path, evidence, contradiction, fragility, abs_response,
       endpoint_magnitude, endpoint_delta, pair_count, active_frac
FROM out_model_profiles
