-- purpose: audited models, in the order of the configuration
SELECT model_id, family, architecture, weights_sha256
FROM out_models
WHERE study = $study
ORDER BY position, model_id
