-- purpose: pairs whose role changed with the version of a model
SELECT entry, against, pair_type, path, role_before, role_now, trajectory_count, frac,
       pair_ids[:5] AS pair_ids
FROM out_role_changes
WHERE study = ?
