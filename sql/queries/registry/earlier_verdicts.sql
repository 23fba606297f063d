-- purpose: earlier verdicts on the contents that the newest re-audit judges
-- They are those of the same entry. A later audit of another content ends them, unless the list
-- `alike` has the entry: it is compared with itself. For entries in the list `unknown`, they are
-- those of the entry of the alias, which has the same content. Accepted verdicts are left out.
WITH newest AS (
    FROM stg_registry_entries
    WHERE study = $study
    QUALIFY resolved_at = max(resolved_at) OVER () AND change NOT IN ('none', 'version', 'returned')
),
earlier AS (
    SELECT
        entry.entry, before.entry AS judged_entry, before.reaudit_id,
        before.model_id = entry.model_id AS is_alike
    FROM newest AS entry
    JOIN stg_registry_entries AS before
        ON before.study = entry.study AND before.entry = entry.entry
        AND before.state = 'audited' AND before.resolved_at < entry.resolved_at
    WHERE is_alike OR NOT list_contains($alike, entry.entry)
    QUALIFY before.resolved_at = max(before.resolved_at) OVER (PARTITION BY entry.entry)
    UNION ALL
    SELECT entry, compared_entry, compared_reaudit_id, true
    FROM newest
    WHERE list_contains($unknown, entry)
)
SELECT earlier.entry, metric, rule, pair_type, path, variant, gate_limit, level, found,
    lower_limit, upper_limit, verdict.verdict, reason
FROM earlier
JOIN core_entry_verdicts AS judged
    ON judged.study = $study AND judged.reaudit_id = earlier.reaudit_id
    AND judged.entry = earlier.judged_entry
JOIN stg_gate_verdicts AS verdict
    ON verdict.study = judged.study AND verdict.reaudit_id = judged.judged_reaudit_id
    AND verdict.entry = judged.entry
WHERE is_alike AND judged.accepted_at IS NULL
ORDER BY earlier.entry, position
