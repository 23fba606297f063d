-- purpose: what each baseline of a model took
-- grain: one row per baseline of a model
-- inputs: files.baseline_costs
-- paper: appendix I
CREATE OR REPLACE VIEW stg_baseline_costs AS
SELECT
    study::VARCHAR AS study,
    model_id::VARCHAR AS model_id,
    baseline_key::VARCHAR AS baseline_key,
    method::VARCHAR AS method,
    predicted_rows::BIGINT AS predicted_rows,
    load_seconds::DOUBLE AS load_seconds,
    prepare_seconds::DOUBLE AS prepare_seconds,
    wall_seconds::DOUBLE AS wall_seconds,
    cpu_seconds::DOUBLE AS cpu_seconds,
    peak_memory_bytes::BIGINT AS peak_memory_bytes,
    device::VARCHAR AS device,
    worker::VARCHAR AS worker,
    started_at::TIMESTAMPTZ AS started_at
FROM read_parquet(
    getvariable('files').baseline_costs,
    hive_partitioning = true,
    hive_types = {study: VARCHAR, model_id: VARCHAR}
);
