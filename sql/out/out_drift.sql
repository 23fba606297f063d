-- purpose: change of the present versions of a registry from earlier ones
-- grain: one row per study, entry, version it is compared with, measured subject and metric
-- paper: appendix D.8 (statistical summaries)
-- As of the re-audit that judged the version, for as long as the entry has it.
-- 2,000 replicates, level 0.95; other choices, and other re-audits: drift_of.
CREATE OR REPLACE VIEW out_drift AS
WITH changed AS (
    FROM core_entry_versions
    WHERE is_changed AND (against <> 'previous' OR is_another)
),
-- With what else changed then: p_adjusted is over all of that.
judged AS (
    FROM changed
    SEMI JOIN (FROM changed WHERE is_present) AS present USING (study, reaudit_id)
    WHERE is_present OR reason IS NULL
)
SELECT
    drift.g.study AS study,
    drift.g.entry AS entry,
    drift.g.against AS against, -- last_passed, previous where that is another version, another_entry
    version.version_before,
    version.version,
    version.resolved_at, -- when the re-audit that judged it was begun
    drift.g.pair_type AS pair_type, -- NULL of accuracy, as the path
    drift.g.path AS path,
    drift.g.variant AS variant, -- kind of clean image; NULL unless accuracy
    drift.g.metric AS metric,
    drift.value_before, -- over what both versions have, as all that follow
    drift.value,
    drift.change,
    drift.change_lower, -- NULL of what stopped early, as the next three: its limits are in out_looks
    drift.change_upper,
    drift.p_value,
    drift.p_adjusted, -- below 0.05: a change, with 5 % of such rows expected to be none
    drift.source_count,
    version.reason -- why there is no change
FROM drift_of('judged', 2000, 91702, [0.95]) AS drift
JOIN changed AS version
    ON version.study = drift.g.study
    AND version.reaudit_id = drift.g.reaudit_id
    AND version.entry = drift.g.entry
    AND version.against = drift.g.against
WHERE version.is_present
ORDER BY study, drift.g.entry, drift.g.against, metric, pair_type, path, variant;
