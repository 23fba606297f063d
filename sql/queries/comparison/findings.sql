-- purpose: what each model of a run goes by, the worst first, by entry of a registry where it is one
SELECT coalesce(entry.entry, found.model_id) AS model_id, sentence
FROM out_findings AS found
JOIN core_current_runs AS run USING (study)
LEFT JOIN (SELECT DISTINCT study, run_id, model_id, entry FROM stg_registry_entries) AS entry
    ON entry.study = found.study AND entry.run_id = run.run_id AND entry.model_id = found.model_id
WHERE found.study = $study
