-- purpose: pairs whose role changed most with the versions that the registry has now
FROM out_changed_pairs
WHERE study = ?
ORDER BY entry_place, kind_place, rank
