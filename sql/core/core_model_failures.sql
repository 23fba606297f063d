-- purpose: models that failed in the last attempt of the current runs, and why
-- grain: one row per study and failed model
CREATE OR REPLACE VIEW core_model_failures AS
SELECT study, model_id, reason
FROM stg_model_failures
SEMI JOIN core_current_runs USING (study, run_id);
