-- purpose: verdict on each present version that was judged, and who accepted it; or that it was not
--   audited
SELECT entry.entry, entry.name, entry.version, if(accepted_at IS NULL, verdict, 'accepted'),
    CASE WHEN accepted_at IS NULL THEN 'no' ELSE concat(
        'by ', accepted_by, ' on ',
        strftime(accepted_at AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M UTC: '), why
    ) END
FROM core_entry_verdicts
JOIN stg_registry_entries AS entry USING (study, reaudit_id, entry)
WHERE study = $study AND is_newest AND verdict IS NOT NULL
UNION ALL
SELECT entry, name, version, 'not audited', 'no'
FROM core_entries
WHERE study = $study AND is_newest AND state = 'failed'
