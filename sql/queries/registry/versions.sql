-- purpose: what became of each version of the models of registries
SELECT entry.study, entry.entry, entry.resolved_at AT TIME ZONE 'UTC', entry.version, change,
    verdict, state, array_to_string(failed_gates, ', '),
    CASE WHEN accepted_at IS NULL THEN problem
        ELSE strftime(accepted_at AT TIME ZONE 'UTC', 'accepted %Y-%m-%d %H:%M by ')
            || accepted_by || ': ' || why
    END
FROM stg_registry_entries AS entry
LEFT JOIN core_entry_verdicts USING (study, reaudit_id, entry)
WHERE change <> 'none' AND ($study IS NULL OR study = $study)
    AND ($model IS NULL OR $model IN (entry, name))
ORDER BY study, entry, entry.resolved_at
