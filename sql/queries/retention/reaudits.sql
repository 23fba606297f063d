-- purpose: re-audits with the runs of their entries and the re-audits that they refer to
WITH entries AS (FROM stg_registry_entries WHERE study = $study)
SELECT
    reaudit_id, run_id, resolved_at,
    unnest(
        [previous_reaudit_id, judged_reaudit_id, passed_reaudit_id, compared_reaudit_id]
    ) AS needed_reaudit_id
FROM entries
UNION
-- out_drift of a present version needs all re-audits that its own compared with.
SELECT
    entry.reaudit_id, entry.run_id, entry.resolved_at,
    unnest(
        [judging.previous_reaudit_id, judging.passed_reaudit_id, judging.compared_reaudit_id]
    )
FROM entries AS entry
JOIN entries AS judging ON judging.reaudit_id = entry.judged_reaudit_id
WHERE entry.resolved_at = (SELECT max(resolved_at) FROM entries)
ORDER BY resolved_at DESC
