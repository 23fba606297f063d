-- purpose: versions of the models of a registry with their verdicts, oldest first
SELECT DISTINCT entry, version, resolved_at AT TIME ZONE 'UTC' AS resolved_at, verdict, accepted_at
FROM core_entry_versions
LEFT JOIN (SELECT study, reaudit_id, entry, verdict, accepted_at FROM core_entry_verdicts)
    USING (study, reaudit_id, entry)
WHERE study = $study AND change <> 'none'
ORDER BY entry, resolved_at
