-- purpose: versions that changed entries are compared with, if they may need more scored pairs
-- The relation pending has the rows that the re-audit will record. If the study refines a path,
-- these are all versions; otherwise, those whose scoring stopped early, and those of the re-audits
-- `outdated`, which had other pairs or settings, if the content is another.
WITH changed_entries AS (
    SELECT
        if(compared_reaudit_id IS NULL, entry, compared_entry) AS entry,
        coalesce(
            compared_reaudit_id, if($against = 'previous', previous_reaudit_id, passed_reaudit_id)
        ) AS reaudit_id,
        model_id AS model_now
    FROM pending
    WHERE state = 'audited' AND change NOT IN ('none', 'version', 'returned')
)
SELECT DISTINCT model_id, before.entry || ' ' || before.version AS label, before.name, card,
    model.weights_sha256
FROM changed_entries
JOIN stg_registry_entries AS before USING (entry, reaudit_id)
JOIN stg_models AS model USING (study, run_id, model_id)
LEFT JOIN stg_run_stops AS stop USING (study, run_id, model_id)
WHERE study = $study AND (
    $refines OR stop.block_count IS NOT NULL
    OR list_contains($outdated, reaudit_id) AND model_id <> model_now
)
ORDER BY model_id
