-- purpose: what could change what is said of each response, a sentence each
SELECT model_id, pair_type, path, doubt, sentence
FROM out_doubts
WHERE study = ?
