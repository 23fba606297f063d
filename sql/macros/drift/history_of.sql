-- purpose: metrics of models of a registry over their versions and dates
-- grain: one row per re-audit and entry of rel, measured subject and metric
-- paper: appendix D.8 (statistical summaries)
-- rel names a relation with the columns of core_entry_versions, one row for each point in time.
-- Intervals at level 0.95 have 500 replicates that draw the same sources for every version.
-- WITH points AS (FROM core_entry_versions WHERE against = 'previous') FROM history_of('points')
CREATE OR REPLACE MACRO history_of(rel) AS TABLE
WITH points AS (FROM query_table(rel)),
-- Limits of the gates that judged each content: on the value, and on its change less the change
-- that they found.
limits AS (
    SELECT
        entry.study, entry.reaudit_id, entry.entry, metric, pair_type, path, variant,
        max(gate_limit) FILTER (rule = 'at_least') AS at_least,
        min(gate_limit) FILTER (rule = 'at_most') AS at_most,
        max(-gate_limit - found) FILTER (rule = 'decrease') AS lowest_change,
        min(gate_limit - found) FILTER (rule = 'increase') AS highest_change
    FROM core_entry_verdicts AS entry
    JOIN stg_gate_verdicts AS verdict ON verdict.study = entry.study
        AND verdict.reaudit_id = entry.judged_reaudit_id AND verdict.entry = entry.entry
    GROUP BY ALL
)
SELECT
    drift.g.study AS study,
    drift.g.entry AS entry,
    point.resolved_at,
    point.version,
    point.change,
    point.model_id,
    drift.g.pair_type AS pair_type, -- NULL for accuracy, as is the path
    drift.g.path AS path,
    drift.g.variant AS variant, -- kind of clean image; NULL for other metrics
    drift.g.metric AS metric,
    drift.value, -- score units, or a share
    drift.lower_limit,
    drift.upper_limit,
    drift.change AS since_before, -- paired; NULL without a comparison, as are its limits
    drift.change_lower,
    drift.change_upper,
    drift.source_count,
    -- Range that the gates allow; NULL without a gate, or without a version to compare with.
    greatest(at_least, drift.value + lowest_change) AS lowest_allowed,
    least(at_most, drift.value + highest_change) AS highest_allowed
FROM drift_of(rel, 500, 91702, [0.95]) AS drift
JOIN points AS point
    ON point.study = drift.g.study
    AND point.reaudit_id = drift.g.reaudit_id
    AND point.entry = drift.g.entry
LEFT JOIN limits
    ON limits.study = drift.g.study AND limits.reaudit_id = drift.g.reaudit_id
    AND limits.entry = drift.g.entry AND limits.metric = drift.g.metric
    AND limits.pair_type IS NOT DISTINCT FROM drift.g.pair_type
    AND limits.path IS NOT DISTINCT FROM drift.g.path
    AND limits.variant IS NOT DISTINCT FROM drift.g.variant;
