-- purpose: spatial attributions of the current runs
-- grain: one row per study, model, pair and method
-- paper: appendix F
CREATE OR REPLACE VIEW core_attributions AS
SELECT study, run_id, attribution.* EXCLUDE (study, unit_key)
FROM stg_attributions AS attribution
JOIN core_measurements USING (study, model_id, unit_key);
