-- purpose: means of a run with intervals, score units, by model or registry entry
SELECT coalesce(entry.entry, found.model_id) AS model_id, found.pair_type, path, metric,
       estimate, lower_95, upper_95
FROM out_model_intervals AS found
JOIN core_current_runs AS run USING (study)
LEFT JOIN (SELECT DISTINCT study, run_id, model_id, entry FROM stg_registry_entries) AS entry
    ON entry.study = found.study AND entry.run_id = run.run_id AND entry.model_id = found.model_id
WHERE found.study = $study
ORDER BY ALL
