-- purpose: gates on the judged versions of an entry, the newest version and worst gate first
FROM core_gates
WHERE study = $study AND entry = $entry AND reaudit_id = judged_reaudit_id
ORDER BY judged_at DESC, list_position(['fail', 'undecided', 'pass', 'not applicable'], verdict),
    position
