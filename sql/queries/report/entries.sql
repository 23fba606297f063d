-- purpose: entries of the registry at its newest re-audit
SELECT resolved_at AT TIME ZONE 'UTC' AS resolved_at, entry, version, version_before,
       version_passed, compared_entry, version_compared, state, change, model_id, verdict,
       accepted_at, problem
FROM out_entries
WHERE study = $study
ORDER BY entry
