-- purpose: how every model responds to each pair type and path, with the limits of `expect:`
SELECT model_id, pair_type, path, expect, rule, evidence, contradiction, fragility, abs_response,
       lower_95, upper_95, endpoint_magnitude, safe_limit, wanted_limit
FROM out_responses
WHERE study = $study
