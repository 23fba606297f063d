-- purpose: supported images of a model, by the agreement of a method on each
SELECT image_id
FROM core_attribution_quality
WHERE study = $study AND model_id = $model_id AND protocol = $protocol AND method = $method
    AND is_supported
ORDER BY spearman DESC, image_id
