-- purpose: limits that `expect:` sets responses, and whether they hold
SELECT model_id, pair_type, expect, abs_limit, path, abs_response, lower_95, upper_95, verdict
FROM out_limits
WHERE study = ?
