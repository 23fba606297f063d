-- purpose: pairs with M above 0.05, with their sources
SELECT source_id, pair_id, model_id, pair_type, path, endpoint_delta, abs_response
FROM core_profiles
WHERE study = $study AND endpoint_magnitude > 0.05
ORDER BY endpoint_magnitude DESC
