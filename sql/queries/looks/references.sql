-- purpose: versions that changed entries are compared with, if more of their pairs may have to be
--   scored
-- The relation pending has rows of the re-audit that is under way. Of a study that refines a path
-- these are all versions; of another one, those whose scoring stopped early.
WITH asked AS (
    SELECT
        if(compared_reaudit_id IS NULL, entry, compared_entry) AS entry,
        coalesce(
            compared_reaudit_id, if($against = 'previous', previous_reaudit_id, passed_reaudit_id)
        ) AS reaudit_id
    FROM pending
    WHERE state = 'audited' AND change NOT IN ('none', 'version', 'returned')
)
SELECT DISTINCT model_id, before.entry || ' ' || before.version AS label, card, model.weights_sha256
FROM asked
JOIN stg_registry_entries AS before USING (entry, reaudit_id)
JOIN stg_models AS model USING (study, run_id, model_id)
LEFT JOIN stg_run_stops AS stop USING (study, run_id, model_id)
WHERE study = $study AND ($refines OR stop.block_count IS NOT NULL)
ORDER BY model_id
