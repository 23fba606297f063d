-- purpose: pairs whose role changed most with the present versions of the registry
FROM out_changed_pairs
WHERE study = $study
ORDER BY entry_place, kind_place, rank
