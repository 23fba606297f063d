-- purpose: models of the current runs whose scoring stopped early
-- grain: one row per study and model that stopped early
CREATE OR REPLACE VIEW out_stops AS
SELECT
    study,
    model_id,
    block_count,
    planned_block_count,
    source_count, -- scored sources
    planned_source_count,
    source_count / planned_source_count AS source_share,
    is_decided -- false if some limits are undecided
FROM stg_run_stops
SEMI JOIN core_current_runs USING (study, run_id)
ORDER BY study, model_id;
