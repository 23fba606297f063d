-- purpose: pairs whose role changed with the version of a model
SELECT entry, against, version_before, version, pair_type, path, role_before, role_now,
       trajectory_count, frac, pair_ids[:5] AS pair_ids
FROM out_role_changes
LEFT JOIN (FROM core_entry_versions WHERE is_present AND is_changed) USING (study, entry, against)
WHERE study = $study
