-- purpose: failed gates of the present versions of the registry
SELECT entry, version, is_followed, array_to_string(failed_gates, ', ') AS failed_gates,
       content_failed_since AT TIME ZONE 'UTC' AS content_failed_since,
       entry_failing_since AT TIME ZONE 'UTC' AS entry_failing_since, version_passed, alert_count,
       accepted_at AT TIME ZONE 'UTC' AS accepted_at, accepted_by, why
FROM out_standing_verdicts
WHERE study = $study
