-- purpose: models of the current runs, in the order of the configuration
-- grain: one row per study and model
-- paper: appendix F.2
CREATE OR REPLACE VIEW out_models AS
SELECT
    model.study,
    model.model_id,
    model.position, -- order in the configuration, from 0
    model.family,
    model.architecture,
    model.weights_sha256, -- digest of the files, or of address and version
    model.card, -- JSON
    model.training -- JSON; NULL for a model that was not trained here
FROM stg_models AS model
SEMI JOIN core_current_runs USING (study, run_id)
ORDER BY model.study, model.position, model.model_id;
