-- purpose: models of every study in their order, with the score of its current run
SELECT study, run.score, model.model_id
FROM out_runs AS run
LEFT JOIN out_models AS model USING (study)
WHERE run.is_current
ORDER BY study, position, model_id
