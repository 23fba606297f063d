-- purpose: response of one pair in every model on one path, score units, the largest first
SELECT model_id, evidence, contradiction, fragility, abs_response
FROM core_profiles
WHERE study = $study AND pair_id = $pair_id AND path = $path AND repetition = $repetition
ORDER BY abs_response DESC, model_id
