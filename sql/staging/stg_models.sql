-- purpose: models of each run, with their cards
-- grain: one row per run and audited model
-- inputs: files.models
-- paper: appendix F.2
CREATE OR REPLACE VIEW stg_models AS
SELECT
    study::VARCHAR AS study,
    run_id::VARCHAR AS run_id,
    model_id::VARCHAR AS model_id,
    position::BIGINT AS position,
    family::VARCHAR AS family,
    architecture::VARCHAR AS architecture,
    weights_sha256::VARCHAR AS weights_sha256,
    card::VARCHAR AS card,
    training::VARCHAR AS training
FROM read_parquet(
    getvariable('files').models,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
