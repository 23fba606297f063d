-- purpose: planned analyses of the current runs over all their models, and which have been made
-- grain: one row per study and analysis of its current run
-- inputs: core_current_runs, stg_run_analyses, receipts
-- paper: none
CREATE OR REPLACE VIEW core_analyses AS
WITH committed AS (SELECT study, key FROM receipts WHERE kind = 'analyses')
SELECT
    planned.study,
    planned.run_id,
    planned.kind,
    planned.analysis_key,
    planned.definition, -- JSON
    committed.key IS NOT NULL AS is_made
FROM stg_run_analyses AS planned
JOIN core_current_runs USING (study, run_id)
LEFT JOIN committed
    ON committed.study = planned.study AND committed.key = planned.analysis_key;
