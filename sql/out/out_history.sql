-- purpose: E, C, F and the other columns of every model of a registry over its versions and dates
-- grain: one row per study, re-audit at which an entry was another, what it is measured on, metric
-- inputs: core_entry_versions, drift_of
-- paper: appendix D.8 (statistical summaries)
-- 500 replicates, level 0.95; sources are drawn, the same ones for every version.
CREATE OR REPLACE VIEW out_history AS
WITH audited AS (FROM core_entry_versions WHERE change <> 'none')
SELECT
    drift.g.study AS study,
    drift.g.entry AS entry,
    version.resolved_at,
    version.version,
    version.change,
    version.model_id,
    drift.g.pair_type AS pair_type, -- NULL of accuracy, as the path
    drift.g.path AS path,
    drift.g.variant AS variant, -- kind of clean image; NULL unless accuracy
    drift.g.metric AS metric,
    drift.value, -- score units, or a share
    drift.lower_limit,
    drift.upper_limit,
    drift.change AS since_before, -- paired; NULL without a comparison, as its limits
    drift.change_lower,
    drift.change_upper,
    drift.source_count
FROM drift_of('audited', 500, 91702, [0.95]) AS drift
JOIN audited AS version
    ON version.study = drift.g.study
    AND version.reaudit_id = drift.g.reaudit_id
    AND version.entry = drift.g.entry
ORDER BY study, drift.g.entry, version.resolved_at, metric, pair_type, path, variant;
