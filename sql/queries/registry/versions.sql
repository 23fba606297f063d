-- purpose: state of each version of the models of registries, with the gates that it failed
SELECT study, entry, resolved_at AT TIME ZONE 'UTC', version, change, verdict, state,
    concat_ws(
        '; ',
        note,
        format('{} after {:,} of {:,} sources', if(is_decided, 'decided', 'undecided'),
            stop.source_count, stop.planned_source_count)
    ),
    (
        SELECT list(gate ORDER BY gate.position)
        FROM (SELECT *, NULL AS source_count, NULL AS planned_source_count FROM stg_gate_verdicts)
            AS gate
        WHERE gate.study = core_entries.study AND gate.reaudit_id = judged_reaudit_id
            AND gate.entry = core_entries.entry AND gate.verdict = 'fail'
    )
FROM core_entries
LEFT JOIN stg_run_stops AS stop USING (study, run_id, model_id)
WHERE change <> 'none' AND ($study IS NULL OR study = $study)
    AND ($model IS NULL OR $model IN (entry, name))
ORDER BY study, entry, resolved_at
