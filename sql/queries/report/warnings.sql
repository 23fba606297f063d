-- purpose: warnings about results; affected_count is NULL if detail has the number
SELECT model_id, warning, affected_count, detail
FROM out_warnings
WHERE study = $study
ORDER BY warning, model_id NULLS FIRST, detail
