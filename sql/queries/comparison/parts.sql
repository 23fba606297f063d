-- purpose: parts of the units' keys that differ in the second run, with the models they concern
WITH entries AS (SELECT DISTINCT study, run_id, model_id, entry FROM stg_registry_entries),
found AS (
    SELECT side, kind, part, coalesce(entry, model_id, 'all models') AS model_id,
        list(DISTINCT value ORDER BY value) AS value_list
    FROM compared_runs($run_a, $run_b)
    JOIN stg_run_units USING (study, run_id)
    JOIN stg_unit_parts USING (study, run_id, unit_key)
    LEFT JOIN entries USING (study, run_id, model_id)
    GROUP BY ALL
)
SELECT kind, part, count(*) AS model_count, list(model_id ORDER BY model_id)[:5] AS models
FROM (FROM found WHERE side = 'a') AS a
JOIN (FROM found WHERE side = 'b') AS b USING (kind, part, model_id)
WHERE a.value_list <> b.value_list
GROUP BY kind, part
ORDER BY kind, part
