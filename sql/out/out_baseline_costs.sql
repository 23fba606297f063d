-- purpose: placeholder of the costs of baselines: no rows
-- grain: one row per study, model and method
-- inputs: none
-- paper: appendix H (measured cost)
CREATE OR REPLACE VIEW out_baseline_costs AS
SELECT
    NULL::VARCHAR AS study, NULL::VARCHAR AS model_id, NULL::VARCHAR AS method,
    NULL::DOUBLE AS wall_seconds, NULL::DOUBLE AS cpu_seconds, NULL::BIGINT AS predicted_rows,
    NULL::BIGINT AS peak_memory_bytes
WHERE false;
