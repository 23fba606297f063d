-- purpose: accuracy of every model on every kind of clean image, fraction
SELECT model_id, variant, image_count, accuracy
FROM out_accuracy
WHERE study = $study AND accuracy IS NOT NULL -- a score without classes has none
ORDER BY model_id, variant
