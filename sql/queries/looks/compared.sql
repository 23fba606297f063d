-- purpose: changed entries of an unfinished re-audit, and why they cannot be compared
-- The relation pending has the rows that the re-audit will record.
WITH recorded AS (
    FROM stg_registry_entries
    UNION ALL BY NAME
    SELECT $study AS study, * FROM pending
),
versions AS (
    FROM entry_versions('recorded')
    WHERE study = $study AND is_newest AND is_changed AND against IN ($against, 'another_entry')
    QUALIFY count(*) OVER (PARTITION BY entry) = 1 OR against = 'another_entry'
)
SELECT study, reaudit_id, entry, against, run_id, model_id, run_before, model_before, reason
FROM versions
ORDER BY entry
