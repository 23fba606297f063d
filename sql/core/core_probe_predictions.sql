-- purpose: predictions of probes for every model of a held-out family, in the current runs
-- grain: one row per study, representation, model and label
-- paper: appendix I (fixed semantic readout)
CREATE OR REPLACE VIEW core_probe_predictions AS
SELECT study, run_id, prediction.* EXCLUDE (study, unit_key)
FROM stg_probe_predictions AS prediction
JOIN core_analyses USING (study, unit_key);
