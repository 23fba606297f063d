-- purpose: judged contents of entries, and whether they passed or were accepted, oldest first
SELECT DISTINCT
    entry.entry, entry.weights_sha256, entry.preprocessing_sha256,
    verdict.verdict = 'pass' OR verdict.accepted_at IS NOT NULL AS is_passed_or_accepted,
    judging.reaudit_id, judging.version,
    strftime(judging.resolved_at AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S') AS moment,
    verdict.verdict
FROM core_entry_verdicts AS verdict
JOIN stg_registry_entries AS entry USING (study, reaudit_id, entry)
JOIN stg_registry_entries AS judging
    ON judging.study = verdict.study
    AND judging.reaudit_id = verdict.judged_reaudit_id
    AND judging.entry = verdict.entry
WHERE verdict.study = $study AND verdict.verdict <> 'no gate applies'
ORDER BY moment
