-- purpose: failed gates of the present versions of a registry, and acceptances of them
-- grain: one row per study and entry of its newest re-audit whose version failed a gate
CREATE OR REPLACE VIEW out_standing_verdicts AS
SELECT
    entry.study,
    entry.entry,
    entry.version,
    entry.is_followed, -- false for a version that was named by its number
    entry.failed_gates,
    entry.content_failed_since, -- first failure of this content
    entry.entry_failing_since, -- NULL once the verdict is accepted
    passed.version_before AS version_passed, -- last version that passed or was accepted
    entry.accepted_at, -- NULL while the verdict stands, like the next two
    entry.accepted_by,
    entry.why,
    count(alert.delivery) AS alert_count, -- delivered alerts and reminders
    max(alert.delivered_at) AS last_alert_at,
    entry.judged_reaudit_id AS reaudit_id -- that judged it
FROM core_entry_verdicts AS entry
LEFT JOIN (FROM core_entry_versions WHERE against = 'last_passed') AS passed
    USING (study, reaudit_id, entry)
LEFT JOIN stg_alerts AS alert
    ON alert.study = entry.study
    AND alert.reaudit_id = entry.judged_reaudit_id
    AND alert.entry = entry.entry
    AND starts_with(alert.kind, 'gate.')
WHERE entry.is_newest AND entry.verdict = 'fail'
GROUP BY ALL
ORDER BY entry.study, entry.entry;
