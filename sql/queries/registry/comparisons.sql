-- purpose: version that each entry of the newest re-audit is judged against, and its own past
SELECT
    version.entry,
    version.model_id IS NOT DISTINCT FROM version.model_before AS is_itself,
    EXISTS (
        FROM stg_registry_entries AS earlier
        WHERE earlier.study = version.study AND earlier.entry = version.entry
            AND earlier.model_id = version.model_id AND earlier.resolved_at < version.resolved_at
    ) AS is_known, -- this content, under this entry
    if(against = 'another_entry', entry.compared_entry, NULL) AS compared_entry,
    version.version_before,
    compared.verdict = 'fail' AND compared.accepted_at IS NULL AS has_failed, -- NULL: judged now
    entry.change = 'new' AS is_new
FROM core_entry_versions AS version
JOIN stg_registry_entries AS entry USING (study, reaudit_id, entry)
LEFT JOIN core_entry_verdicts AS compared
    ON compared.study = entry.study AND compared.reaudit_id = entry.compared_reaudit_id
    AND compared.entry = entry.compared_entry
WHERE version.study = $study AND version.is_newest AND version.is_changed
    AND against IN ($against, 'another_entry')
QUALIFY count(*) OVER (PARTITION BY version.entry) = 1 OR against = 'another_entry'
ORDER BY ALL
