-- purpose: what a reader must know before trusting the numbers; affected_count is NULL where
--   detail counts
SELECT model_id, warning, affected_count, detail
FROM out_warnings
WHERE study = ?
ORDER BY warning, model_id NULLS FIRST, detail
