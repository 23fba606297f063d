-- purpose: main finding of each model or registry entry of a run, the worst first
SELECT coalesce(entry.entry, found.model_id) AS model_id, sentence, pair_type
FROM out_findings AS found
JOIN core_current_runs AS run USING (study)
LEFT JOIN (SELECT DISTINCT study, run_id, model_id, entry FROM stg_registry_entries) AS entry
    ON entry.study = found.study AND entry.run_id = run.run_id AND entry.model_id = found.model_id
WHERE found.study = $study
