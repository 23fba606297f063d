-- purpose: gates on the versions of an entry that were judged, the newest version first, then the
--   worst gate
FROM core_gates
WHERE study = $study AND entry = $entry AND reaudit_id = judged_reaudit_id
ORDER BY judged_at DESC, list_position(['fail', 'undecided', 'pass', 'not applicable'], verdict),
    position
