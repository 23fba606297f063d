-- purpose: models of the current runs, in the order of the configuration
-- grain: one row per study and model
-- paper: appendix F.2
CREATE OR REPLACE VIEW out_models AS
SELECT * EXCLUDE (run_id)
FROM stg_models
SEMI JOIN core_current_runs USING (study, run_id)
ORDER BY study, position, model_id;
