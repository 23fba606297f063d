-- purpose: studies with their newest run and its contents
SELECT study, run.started_at, run.is_finished, model_count, pair_count, run.epsilon, run.run_id
FROM out_runs AS run
LEFT JOIN (
    SELECT study, count(*) AS model_count FROM out_models GROUP BY study
) USING (study)
LEFT JOIN (
    SELECT study, count(*) AS pair_count FROM core_pairs GROUP BY study
) USING (study)
WHERE run.is_current
