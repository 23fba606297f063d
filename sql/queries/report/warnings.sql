-- purpose: warnings for readers of the numbers; affected_count is NULL where detail contains the
--   number
SELECT model_id, warning, affected_count, detail
FROM out_warnings
WHERE study = ?
ORDER BY warning, model_id NULLS FIRST, detail
