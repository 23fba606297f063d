-- purpose: sentences on what could change the description of each response
SELECT model_id, pair_type, path, doubt, sentence
FROM out_doubts
WHERE study = $study
