-- purpose: baselines that each run planned
-- grain: one row per run, planned baseline of a model and component
-- inputs: files.run_baselines
-- paper: none
CREATE OR REPLACE VIEW stg_run_baselines AS
SELECT
    study::VARCHAR AS study,
    run_id::VARCHAR AS run_id,
    baseline_key::VARCHAR AS baseline_key,
    method::VARCHAR AS method,
    component::VARCHAR AS component,
    model_id::VARCHAR AS model_id
FROM read_parquet(
    getvariable('files').run_baselines,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
