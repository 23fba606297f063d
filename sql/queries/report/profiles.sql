-- purpose: mean response of every model on every pair type and path, score units
SELECT model_id, pair_type, path, pair_count, active_frac, endpoint_delta,
       endpoint_magnitude, evidence, contradiction, fragility, abs_response, contradiction_frac, fragility_frac
FROM out_model_profiles
WHERE study = $study
ORDER BY pair_type, path, position, model_id
