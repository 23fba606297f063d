-- purpose: spatial attributions of the current runs
-- grain: one row per study, model, pair and method
-- paper: appendix F
CREATE OR REPLACE VIEW core_attributions AS
SELECT
    study,
    run_id,
    model_id,
    pair_id,
    method,
    region_score, -- score units
    region_pixels
FROM stg_attributions
JOIN core_measurements USING (study, model_id, unit_key);
