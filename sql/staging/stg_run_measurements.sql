-- purpose: measurements that each run planned beside its shards
-- grain: one row per run and planned measurement beside its shards
-- inputs: files.run_measurements
-- paper: none
CREATE OR REPLACE VIEW stg_run_measurements AS
SELECT
    study::VARCHAR AS study,
    run_id::VARCHAR AS run_id,
    measurement_key::VARCHAR AS measurement_key,
    kind::VARCHAR AS kind,
    name::VARCHAR AS name,
    model_id::VARCHAR AS model_id,
    block::BIGINT AS block
FROM read_parquet(
    getvariable('files').run_measurements,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
