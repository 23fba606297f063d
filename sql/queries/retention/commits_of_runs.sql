-- purpose: commits of each run: of its units, of the run itself, and of its re-audits
SELECT run_id, list(DISTINCT name) AS names
FROM (
    SELECT run_id, 'units/' || commit_key AS name
    FROM stg_run_units JOIN committed_units USING (study, unit_key)
    WHERE study = $study
    UNION ALL
    SELECT run_id, unnest(
        ['runs/' || run_id, 'outcomes/' || run_id, 'failures/' || run_id, 'pictures/' || run_id,
            'stops/' || run_id, 'pairs/' || left(pairs_digest, 32)]
    )
    FROM stg_runs
    WHERE study = $study
    UNION ALL
    SELECT run_id, 'trials/' || trial_id
    FROM stg_run_units
    JOIN (SELECT trial_id, unnest(unit_keys) AS unit_key FROM stg_model_trials WHERE study = $study)
        USING (unit_key)
    WHERE study = $study
    UNION ALL
    SELECT run_id, unnest(
        ['reaudits/' || reaudit_id, 'verdicts/' || reaudit_id, 'alerts/' || reaudit_id,
            'alerts/' || reaudit_id || '-partial']
    )
    FROM stg_registry_entries
    WHERE study = $study AND run_id IS NOT NULL
    UNION ALL
    SELECT run_id, 'alerts/' || delivery
    FROM stg_registry_entries JOIN stg_alerts USING (study, reaudit_id, entry)
    WHERE study = $study AND run_id IS NOT NULL
)
GROUP BY run_id
