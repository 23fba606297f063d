-- purpose: what each baseline of the current runs took, model by model
-- grain: one row per study, model and baseline that has been made
-- inputs: stg_baseline_costs, stg_run_baselines, core_current_runs
-- paper: appendix I
CREATE OR REPLACE VIEW out_baseline_costs AS
WITH planned AS (
    SELECT study, model_id, baseline_key
    FROM stg_run_baselines
    SEMI JOIN core_current_runs USING (study, run_id)
)
SELECT
    study,
    model_id,
    method,
    wall_seconds, -- of the worker, without loading the model
    cpu_seconds,
    predicted_rows, -- a refit's rows too; TreeSHAP predicts none
    peak_memory_bytes -- peak RSS of the worker since it began
FROM stg_baseline_costs
SEMI JOIN planned USING (study, model_id, baseline_key)
ORDER BY study, model_id, method;
