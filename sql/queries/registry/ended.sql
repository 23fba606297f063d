-- purpose: failures that stood before the newest re-audit and that no new version that passes ended
-- Other content that passed ends a failure as expected, and an acceptance has its own line.
WITH recorded AS (
    SELECT entry.*, verdict, failed_gates, entry_failing_since, accepted_at
    FROM stg_registry_entries AS entry
    LEFT JOIN core_entry_verdicts AS verdict USING (study, reaudit_id, entry)
    WHERE study = $study AND entry.is_followed
),
newest AS (FROM recorded QUALIFY resolved_at = max(resolved_at) OVER ()),
before AS ( -- the last audit of each entry
    FROM recorded
    WHERE state = 'audited' AND resolved_at < (SELECT max(resolved_at) FROM newest)
    QUALIFY resolved_at = max(resolved_at) OVER (PARTITION BY entry)
)
SELECT entry, before.version, before.failed_gates,
    strftime(before.entry_failing_since AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S'),
    newest.version,
    CASE WHEN newest.model_id = before.model_id THEN newest.change END AS same_change,
    newest.state = 'gone' AS is_gone
FROM newest
JOIN before USING (entry)
WHERE before.verdict = 'fail' AND before.accepted_at IS NULL
    AND (is_gone OR newest.state = 'audited' AND newest.accepted_at IS NULL
        AND newest.verdict IS DISTINCT FROM 'fail'
        AND (same_change IS NOT NULL OR newest.verdict IS DISTINCT FROM 'pass'))
ORDER BY entry
