-- purpose: agreement of every method with feature effects on the supported images of each model,
--   best first
-- If a study has two protocols, the first by name counts.
SELECT model_id, protocol, method, stage_count, avg(spearman) AS quality
FROM core_attribution_quality
JOIN core_attribution_methods USING (study, method)
JOIN out_models USING (study, model_id)
WHERE study = $study AND is_supported
GROUP BY model_id, position, protocol, method, stage_count
QUALIFY protocol = min(protocol) OVER ()
ORDER BY position, model_id, quality DESC, method
