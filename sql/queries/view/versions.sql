-- purpose: versions of entries with their verdicts; the model is NULL if the newest run lacks it
SELECT study, entry, version, resolved_at, change, state, verdict,
       CASE WHEN state = 'audited'
           THEN coalesce(compared_entry || ' ' || version_compared, version_passed)
       END AS compared_with,
       array_to_string(failed_gates, ', ') AS failed_gates,
       accepted_at, note, model.model_id
FROM core_entries AS entry
LEFT JOIN out_models AS model USING (study, model_id)
WHERE change <> 'none'
