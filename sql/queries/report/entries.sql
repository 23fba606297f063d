-- purpose: entries of the registry at its newest re-audit
-- not_compared is why changed content is compared with no version; NULL if it is.
SELECT resolved_at AT TIME ZONE 'UTC' AS resolved_at, entry, version, version_before,
       version_passed, compared_entry, version_compared, state, change, model_id, verdict,
       accepted_at, problem, not_compared
FROM out_entries
LEFT JOIN (
    SELECT study, entry, arg_min(reason, against) AS not_compared
    FROM core_entry_versions
    WHERE is_newest AND is_changed AND (against <> 'previous' OR is_another)
    GROUP BY ALL HAVING bool_and(reason IS NOT NULL)
) USING (study, entry)
WHERE study = $study
ORDER BY entry
