-- purpose: predictions of probes of the current runs for every unit of a held-out family of
--   models
-- grain: one row per study, representation, model and label
-- paper: appendix I (fixed semantic readout)
CREATE OR REPLACE VIEW core_probe_predictions AS
SELECT study, run_id, prediction.* EXCLUDE (study, unit_key)
FROM stg_probe_predictions AS prediction
JOIN core_analyses USING (study, unit_key);
