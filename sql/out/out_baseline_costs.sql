-- purpose: cost of each baseline of the current runs, model by model
-- grain: one row per study, model and computed baseline
-- paper: appendix I
CREATE OR REPLACE VIEW out_baseline_costs AS
SELECT
    study,
    cost.model_id,
    cost.name AS method,
    wall_seconds - load_seconds - prepare_seconds AS wall_seconds, -- without loading and preparing
    cpu_seconds,
    forward_rows AS predicted_rows, -- includes rows of refits; TreeSHAP predicts none
    peak_memory_bytes -- peak RSS of the worker since its start
FROM stg_costs AS cost
SEMI JOIN (FROM core_run_units WHERE kind = 'explain') USING (study, model_id, commit_key)
ORDER BY study, cost.model_id, method;
