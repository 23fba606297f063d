-- purpose: what each measurement took
-- grain: one row per measurement
-- inputs: files.measurement_costs
-- paper: appendix F
CREATE OR REPLACE VIEW stg_measurement_costs AS
SELECT
    study::VARCHAR AS study,
    model_id::VARCHAR AS model_id,
    measurement_key::VARCHAR AS measurement_key,
    image_count::BIGINT AS image_count,
    forward_rows::BIGINT AS forward_rows,
    backward_rows::BIGINT AS backward_rows,
    batch_size::BIGINT AS batch_size,
    load_seconds::DOUBLE AS load_seconds,
    wall_seconds::DOUBLE AS wall_seconds,
    peak_memory_bytes::BIGINT AS peak_memory_bytes,
    device::VARCHAR AS device,
    worker::VARCHAR AS worker,
    started_at::TIMESTAMPTZ AS started_at
FROM read_parquet(
    getvariable('files').measurement_costs,
    hive_partitioning = true,
    hive_types = {study: VARCHAR, model_id: VARCHAR}
);
