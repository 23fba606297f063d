-- purpose: responses of the models of a study to each pair type and path, with limits of `expect:`
SELECT model_id, pair_type, path, expect, evidence, contradiction, fragility, abs_response, lower_95,
       upper_95, endpoint_magnitude, safe_limit, wanted_limit
FROM out_responses
WHERE study = $study
