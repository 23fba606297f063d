-- purpose: state of each version of the models of registries, with the gates that it failed
SELECT entry.study, entry.entry, entry.resolved_at AT TIME ZONE 'UTC', entry.version, entry.change,
    verdict.verdict, entry.state,
    concat_ws('; ', CASE
        WHEN entry.change = 'returned' THEN 'the content of version ' || judging.version
        WHEN accepted_at IS NULL THEN entry.problem
        ELSE strftime(accepted_at AT TIME ZONE 'UTC', 'accepted %Y-%m-%d %H:%M by ')
            || accepted_by || ': ' || why
    END, format('decided after {:,} of {:,} sources', stop.source_count, stop.planned_source_count)),
    (
        SELECT list(gate ORDER BY gate.position)
        FROM (SELECT *, NULL AS source_count, NULL AS planned_source_count FROM stg_gate_verdicts)
            AS gate
        WHERE gate.study = entry.study AND gate.reaudit_id = verdict.judged_reaudit_id
            AND gate.entry = entry.entry AND gate.verdict = 'fail'
    )
FROM stg_registry_entries AS entry
LEFT JOIN core_entry_verdicts AS verdict USING (study, reaudit_id, entry)
LEFT JOIN stg_registry_entries AS judging
    ON judging.study = entry.study
    AND judging.reaudit_id = verdict.judged_reaudit_id
    AND judging.entry = entry.entry
LEFT JOIN stg_run_stops AS stop
    ON stop.study = entry.study AND stop.run_id = entry.run_id AND stop.model_id = entry.model_id
WHERE entry.change <> 'none' AND ($study IS NULL OR entry.study = $study)
    AND ($model IS NULL OR $model IN (entry.entry, entry.name))
ORDER BY entry.study, entry.entry, entry.resolved_at
