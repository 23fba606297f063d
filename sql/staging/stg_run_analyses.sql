-- purpose: analyses over all models that each run planned
-- grain: one row per run and planned analysis over all its models
-- inputs: files.run_analyses
-- paper: none
CREATE OR REPLACE VIEW stg_run_analyses AS
SELECT
    study::VARCHAR AS study,
    run_id::VARCHAR AS run_id,
    analysis_key::VARCHAR AS analysis_key,
    kind::VARCHAR AS kind,
    definition::VARCHAR AS definition
FROM read_parquet(
    getvariable('files').run_analyses,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
