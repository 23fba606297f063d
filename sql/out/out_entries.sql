-- purpose: entries of each registry at its newest re-audit: what changed, and the verdict
-- grain: one row per study and entry of its newest re-audit
CREATE OR REPLACE VIEW out_entries AS
WITH newest AS (
    SELECT *
    FROM stg_registry_entries
    QUALIFY resolved_at = max(resolved_at) OVER (PARTITION BY study)
)
SELECT
    newest.study,
    newest.reaudit_id,
    newest.resolved_at,
    newest.entry,
    newest.version,
    newest.is_followed, -- false of a version that was asked for by its number
    previous.version AS version_before, -- audited before; NULL of the first
    passed.version AS version_passed, -- the last before it that passed, or was accepted
    newest.compared_entry, -- an alias that the gates compare with, and its version; else NULL
    compared.version AS version_compared,
    newest.state, -- audited, failed, or gone
    -- none, version (the same content), returned (one that has passed before), or what became another
    newest.change,
    newest.model_id, -- NULL unless audited
    newest.run_id,
    newest.weights_sha256,
    verdict.verdict, -- on this content, at any re-audit; NULL without a gate
    judging.version AS version_judged, -- under which this content was judged, and when
    judging.resolved_at AS judged_at,
    verdict.failed_since, -- this content; failing_since counts all versions of the entry
    verdict.failing_since,
    verdict.accepted_at, -- NULL unless a failed verdict was accepted
    newest.problem
FROM newest
LEFT JOIN stg_registry_entries AS previous
    ON previous.study = newest.study
    AND previous.reaudit_id = newest.previous_reaudit_id
    AND previous.entry = newest.entry
    AND newest.state <> 'gone'
LEFT JOIN stg_registry_entries AS passed
    ON passed.study = newest.study
    AND passed.reaudit_id = newest.passed_reaudit_id
    AND passed.entry = newest.entry
    AND newest.state <> 'gone'
LEFT JOIN stg_registry_entries AS compared
    ON compared.study = newest.study
    AND compared.reaudit_id = newest.compared_reaudit_id
    AND compared.entry = newest.compared_entry
LEFT JOIN core_entry_verdicts AS verdict
    ON verdict.study = newest.study
    AND verdict.reaudit_id = newest.reaudit_id
    AND verdict.entry = newest.entry
LEFT JOIN stg_registry_entries AS judging
    ON judging.study = newest.study
    AND judging.reaudit_id = verdict.judged_reaudit_id
    AND judging.entry = newest.entry
ORDER BY newest.study, newest.entry;
