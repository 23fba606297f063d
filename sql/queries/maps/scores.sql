-- purpose: what a method, or changing the image, says of every feature of some images
SELECT image_id, method AS name, feature, score, spearman
FROM core_attribution_scores
LEFT JOIN (
    SELECT study, model_id, image_id, method, any_value(spearman) AS spearman
    FROM core_attribution_quality
    WHERE list_contains($protocols, protocol)
    GROUP BY ALL
) USING (study, model_id, image_id, method)
WHERE study = $study AND model_id = $model_id
    AND list_contains($image_ids, image_id) AND list_contains($methods, method)
UNION ALL
SELECT image_id, 'effect: ' || operator, feature, effect, NULL
FROM core_attribution_targets
WHERE study = $study AND model_id = $model_id
    AND list_contains($image_ids, image_id) AND list_contains($protocols, protocol)
