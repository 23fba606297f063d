-- purpose: cost of each baseline of the current runs, model by model
-- grain: one row per study, model and baseline that has been made
-- paper: appendix I
CREATE OR REPLACE VIEW out_baseline_costs AS
SELECT
    study,
    cost.model_id,
    cost.name AS method,
    wall_seconds - load_seconds - prepare_seconds AS wall_seconds, -- of the baseline itself
    cpu_seconds,
    forward_rows AS predicted_rows, -- a refit's rows too; TreeSHAP predicts none
    peak_memory_bytes -- peak RSS of the worker since it began
FROM stg_costs AS cost
SEMI JOIN (FROM core_run_units WHERE kind = 'explain') USING (study, model_id, commit_key)
ORDER BY study, cost.model_id, method;
