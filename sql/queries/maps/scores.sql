-- purpose: score of a method, or effect of changing the image, for every feature of some images
SELECT image_id, method AS name, feature, score, spearman
FROM core_attribution_scores
JOIN core_attribution_quality USING (study, model_id, image_id, method)
WHERE study = $study AND model_id = $model_id AND protocol = $protocol
    AND list_contains($image_ids, image_id) AND list_contains($methods, method)
UNION ALL
SELECT image_id, 'effect: ' || operator, feature, effect, NULL
FROM core_attribution_targets
WHERE study = $study AND model_id = $model_id AND protocol = $protocol
    AND list_contains($image_ids, image_id)
