-- purpose: units of work of the current runs, and which of them are committed
-- grain: one row per study and unit of its current run
CREATE OR REPLACE VIEW core_run_units AS
SELECT
    planned.*,
    committed.commit_key, -- NULL while it is not committed
    committed.unit_key IS NOT NULL AS is_made
FROM stg_run_units AS planned
JOIN core_current_runs USING (study, run_id)
LEFT JOIN committed_units AS committed USING (study, unit_key);
