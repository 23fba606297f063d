-- purpose: limits that `expect:` sets responses, and whether they hold
SELECT model_id, pair_type, expect, response_limit, metric, path, response, lower_95, upper_95, verdict
FROM out_limits
WHERE study = $study
