-- purpose: audited entries of a registry, each with the versions that it is compared with
-- grain: one row per study, re-audit, audited entry and version that it is compared with
-- rel names stg_registry_entries, or its rows with those of a re-audit that is not finished.
-- FROM entry_versions('stg_registry_entries')
CREATE OR REPLACE MACRO entry_versions(rel) AS TABLE
WITH open_ended AS ( -- scored on some blocks only, or on a number of stages that a rule chose
    SELECT (study, run_id, model_id) FROM stg_run_stops UNION ALL
    SELECT (study, run_id, model_id) FROM stg_models JOIN stg_runs USING (study, run_id)
    WHERE len(config -> '$.paths.*.stages.until') > 0
),
models AS (SELECT (study, run_id, model_id) FROM stg_models),
entries AS (
    SELECT *, resolved_at = max(resolved_at) OVER (PARTITION BY study) AS is_newest
    FROM query_table(rel)
),
paired AS (
    SELECT
        entry.*, against,
        previous.reaudit_id AS reaudit_before, previous.version AS version_before,
        previous.model_id AS model_before,
        -- The run itself, if it scored the model before again, on more or other pairs or stages.
        if((entry.study, entry.run_id, previous.model_id) IN (FROM models)
            AND (previous.model_id <> entry.model_id
                OR (previous.study, previous.run_id, previous.model_id) IN (FROM open_ended)),
            entry.run_id, previous.run_id) AS run_before
    FROM entries AS entry
    CROSS JOIN (VALUES ('last_passed'), ('previous'), ('another_entry')) AS comparison (against)
    LEFT JOIN query_table(rel) AS previous
        ON previous.study = entry.study
        AND (previous.entry, previous.reaudit_id) = CASE against
            WHEN 'previous' THEN (entry.entry, entry.previous_reaudit_id)
            WHEN 'last_passed' THEN (entry.entry, entry.passed_reaudit_id)
            ELSE (entry.compared_entry, entry.compared_reaudit_id)
        END
    WHERE entry.state = 'audited' AND (against <> 'another_entry' OR entry.compared_entry IS NOT NULL)
)
SELECT
    entry.study, entry.reaudit_id, entry.resolved_at, entry.is_newest,
    -- The re-audit judged the present content of the entry.
    (entry.study, entry.reaudit_id, entry.entry) IN (
        SELECT (study, judged_reaudit_id, entry) FROM entries WHERE is_newest AND state = 'audited'
    ) AS is_present,
    entry.entry, entry.name, entry.alias, entry.version, entry.change,
    -- False for known content under a new name, and for content that passed before.
    entry.change NOT IN ('none', 'version', 'returned') AS is_changed,
    entry.run_id, entry.model_id, against,
    entry.passed_reaudit_id IS DISTINCT FROM entry.previous_reaudit_id AS is_another, -- passed one
    entry.reaudit_before, -- NULL without a version before
    entry.version_before, entry.run_before, entry.model_before,
    CASE
        WHEN run_before.run_id IS NULL AND against = 'last_passed' AND is_another
            THEN 'no version before it has passed'
        WHEN run_before.run_id IS NULL THEN 'there is no version before it'
        WHEN run.score <> run_before.score THEN 'the score differs'
        WHEN run.epsilon <> run_before.epsilon THEN 'epsilon differs'
        WHEN run.scored_digest <> run_before.scored_digest THEN 'the pairs differ'
    END AS reason
FROM paired AS entry
JOIN stg_runs AS run ON run.study = entry.study AND run.run_id = entry.run_id
LEFT JOIN stg_runs AS run_before ON run_before.study = entry.study AND run_before.run_id = entry.run_before;
