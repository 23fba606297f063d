-- purpose: entries of registries at every re-audit: change, verdict, and version compared with
-- grain: one row per study, re-audit and entry
CREATE OR REPLACE VIEW core_entries AS
SELECT
    entry.study,
    entry.reaudit_id,
    entry.resolved_at,
    entry.resolved_at = max(entry.resolved_at) OVER (PARTITION BY entry.study) AS is_newest,
    entry.entry,
    entry.name,
    entry.version,
    entry.is_followed, -- false for a version that was named by its number
    previous.version AS version_before, -- audited before this version; NULL for the first
    passed.version AS version_passed, -- last earlier version that passed or was accepted
    entry.compared_entry, -- alias that gates compare with; NULL without one
    compared.version AS version_compared,
    entry.state, -- audited, failed, or gone
    -- none, version (equal content), returned (content that passed before), or the changed part
    entry.change,
    entry.model_id, -- NULL unless audited
    entry.run_id,
    entry.weights_sha256,
    verdict.verdict, -- on this content, from any re-audit; NULL without a gate
    verdict.failed_gates, -- metrics
    judging.reaudit_id AS judged_reaudit_id, -- that judged this content
    judging.version AS version_judged, -- version under which it was judged
    judging.resolved_at AS judged_at,
    verdict.content_failed_since, -- first failure of this content
    verdict.entry_failing_since, -- NULL without a standing failure
    verdict.accepted_at, -- NULL unless the verdict was accepted
    entry.problem,
    CASE
        WHEN entry.change = 'returned' THEN 'the content of version ' || judging.version
        WHEN verdict.accepted_at IS NULL THEN entry.problem
        ELSE strftime(verdict.accepted_at AT TIME ZONE 'UTC', 'accepted %Y-%m-%d %H:%M by ')
            || verdict.accepted_by || ': ' || verdict.why
    END AS note -- version with equal content, acceptance, or problem
FROM stg_registry_entries AS entry
LEFT JOIN stg_registry_entries AS previous
    ON previous.study = entry.study
    AND previous.reaudit_id = entry.previous_reaudit_id
    AND previous.entry = entry.entry
    AND entry.state <> 'gone'
LEFT JOIN stg_registry_entries AS passed
    ON passed.study = entry.study
    AND passed.reaudit_id = entry.passed_reaudit_id
    AND passed.entry = entry.entry
    AND entry.state <> 'gone'
LEFT JOIN stg_registry_entries AS compared
    ON compared.study = entry.study
    AND compared.reaudit_id = entry.compared_reaudit_id
    AND compared.entry = entry.compared_entry
LEFT JOIN core_entry_verdicts AS verdict
    ON verdict.study = entry.study
    AND verdict.reaudit_id = entry.reaudit_id
    AND verdict.entry = entry.entry
LEFT JOIN stg_registry_entries AS judging
    ON judging.study = entry.study
    AND judging.reaudit_id = verdict.judged_reaudit_id
    AND judging.entry = entry.entry;
