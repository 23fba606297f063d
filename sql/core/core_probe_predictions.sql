-- purpose: what probes of the current runs said of every unit of a held-out family of models
-- grain: one row per study, representation, model and label
-- paper: appendix I (fixed semantic readout)
CREATE OR REPLACE VIEW core_probe_predictions AS
SELECT
    study,
    run_id,
    representation,
    model_id,
    family, -- held out
    label,
    probability, -- 0 to 1
    feature_count, -- features with a value among the other families
    train_count, -- units of the other families
    reason -- why probability is NULL
FROM stg_probe_predictions
JOIN core_analyses USING (study, unit_key);
