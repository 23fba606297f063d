-- purpose: present verdicts that neither passed nor failed and that nobody has accepted
-- The verdict is NULL if the content failed gates, and the study has no gates any more.
WITH entries AS (
    SELECT verdict.*, entry.name, entry.model_id, entry.compared_entry
    FROM core_entry_verdicts AS verdict
    JOIN stg_registry_entries AS entry USING (study, reaudit_id, entry)
    WHERE study = $study
),
present AS (FROM entries WHERE is_newest),
accepted AS (SELECT (entry, model_id) FROM entries WHERE accepted_at IS NOT NULL)
SELECT study, entry, version, is_followed, verdict, judged_reaudit_id AS reaudit_id,
    -- An alias to compare with: another entry is judged, or this content was accepted once. Or an
    -- entry with the content of an alias that passed or was accepted once.
    verdict IS NOT NULL AND verdict = 'no gate applies' AND EXISTS (
        FROM present AS other
        WHERE other.name = own.name AND other.is_followed
            AND CASE
                WHEN own.entry = own.name || '@' || $compare_with
                    THEN other.verdict <> 'no gate applies' OR other.accepted_at IS NOT NULL
                        OR (own.entry, own.model_id) IN (FROM accepted)
                ELSE own.compared_entry = other.entry AND own.model_id = other.model_id
                    AND (other.verdict = 'pass' OR (other.entry, other.model_id) IN (FROM accepted))
            END
    ) AS is_compared_with
FROM present AS own
WHERE accepted_at IS NULL
    AND (verdict IN ('undecided', 'no gate applies') OR verdict IS NULL AND NOT is_reference)
ORDER BY entry
