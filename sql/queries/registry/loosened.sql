-- purpose: present versions and versions before them that pass only by looser gates than they failed
-- Such a version is no version to compare with: version_passed is, if there is one.
WITH entries AS (
    FROM stg_registry_entries
    WHERE study = $study AND is_followed
    QUALIFY resolved_at = max(resolved_at) OVER () AND state = 'audited'
),
subjects AS (
    SELECT entry, version, passed_reaudit_id, reaudit_id AS subject_id, true AS is_itself FROM entries
    UNION ALL
    SELECT entry, version, passed_reaudit_id, previous_reaudit_id, false FROM entries
    WHERE change <> 'none'
)
SELECT subjects.entry, subjects.version, subject.version AS version_loosened,
    passed.version AS version_passed, list(DISTINCT metric ORDER BY metric),
    strftime(min(loosened.failed_since) AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S')
FROM subjects
JOIN core_entry_verdicts AS subject
    ON subject.study = $study AND subject.reaudit_id = subject_id AND subject.entry = subjects.entry
JOIN core_loosened_gates AS loosened
    ON loosened.study = $study AND loosened.reaudit_id = subject_id
    AND loosened.entry = subjects.entry
LEFT JOIN stg_registry_entries AS passed
    ON passed.study = $study AND passed.reaudit_id = subjects.passed_reaudit_id
    AND passed.entry = subjects.entry
WHERE NOT subject.is_reference AND coalesce(subject.verdict, 'pass') = 'pass'
    AND (is_itself OR subject.version <> subjects.version)
GROUP BY ALL
ORDER BY ALL
