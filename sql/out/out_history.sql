-- purpose: metrics of every model of a registry over its versions and dates
-- grain: one row per study, re-audit at which an entry changed, measured subject and metric
-- paper: appendix D.8 (statistical summaries)
-- It computes all models and versions; for a few of them, history_of is many times faster.
CREATE OR REPLACE VIEW out_history AS
WITH audited AS (
    FROM core_entry_versions WHERE change <> 'none' AND against = 'previous'
)
FROM history_of('audited')
ORDER BY study, entry, resolved_at, metric, pair_type, path, variant;
