-- purpose: how far the sky moves each judge of birds
-- grain: a model on a path
SELECT model_id AS judge, path, pair_count AS birds, abs_response, evidence
FROM out_model_profiles
WHERE study = $study
ORDER BY abs_response DESC, judge, path
