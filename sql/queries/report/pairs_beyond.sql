-- purpose: pairs whose endpoint difference is beyond a limit, with the rows that they come from
SELECT source_id, pair_id, model_id, pair_type, path, endpoint_delta, abs_response
FROM core_profiles
WHERE study = ? AND endpoint_magnitude > 0.05
ORDER BY endpoint_magnitude DESC
