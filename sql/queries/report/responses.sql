-- purpose: how every model responds to each pair type and path, the larger path first
SELECT model_id, pair_type, path, path_name, expect, is_largest_path, evidence, contradiction,
       fragility, abs_response, lower_95, upper_95, endpoint_magnitude, safe_limit, wanted_limit
FROM out_responses
WHERE study = ?
