-- purpose: entries of every registry at its newest re-audit
SELECT study, entry, version, resolved_at, state, change, verdict, version_passed,
       entry_failing_since, note
FROM core_entries
WHERE is_newest
