-- purpose: change of the present versions of a registry from earlier ones
-- grain: one row per study, entry, version it is compared with, measured subject and metric
-- paper: appendix D.8 (statistical summaries)
-- Numbers are those of the re-audit that judged the present version. Intervals at level 0.95 have
-- 2,000 replicates; for other choices, or other re-audits, use drift_of.
CREATE OR REPLACE VIEW out_drift AS
WITH changed AS (
    FROM core_entry_versions
    WHERE is_changed AND (against <> 'previous' OR is_another)
),
-- All entries that changed in the same re-audit, since p_adjusted covers them all.
judged AS (
    FROM changed
    SEMI JOIN (FROM changed WHERE is_present) AS present USING (study, reaudit_id)
    WHERE is_present OR reason IS NULL
)
SELECT
    drift.g.study AS study,
    drift.g.entry AS entry,
    drift.g.against AS against, -- last_passed, previous (if another version) or another_entry
    version.version_before,
    version.version,
    version.resolved_at, -- start of the re-audit that judged it
    drift.g.pair_type AS pair_type, -- NULL for accuracy, as is the path
    drift.g.path AS path,
    drift.g.variant AS variant, -- kind of clean image; NULL for other metrics
    drift.g.metric AS metric,
    drift.value_before, -- over what both versions have, like the next columns
    drift.value,
    drift.change,
    drift.change_lower, -- NULL, like the next three, for a model that stopped early (out_looks)
    drift.change_upper,
    drift.p_value,
    drift.p_adjusted, -- of rows below 0.05, at most 5 % are expected to be no change
    drift.source_count,
    version.reason -- why there is no comparison
FROM drift_of('judged', 2000, 91702, [0.95]) AS drift
JOIN changed AS version
    ON version.study = drift.g.study
    AND version.reaudit_id = drift.g.reaudit_id
    AND version.entry = drift.g.entry
    AND version.against = drift.g.against
WHERE version.is_present
ORDER BY study, drift.g.entry, drift.g.against, metric, pair_type, path, variant;
