-- purpose: what scoring each shard took
-- grain: one row per scored shard
-- inputs: files.costs
-- paper: appendix C.2 (query complexity)
CREATE OR REPLACE VIEW stg_costs AS
SELECT
    study::VARCHAR AS study,
    model_id::VARCHAR AS model_id,
    shard_key::VARCHAR AS shard_key,
    pair_count::BIGINT AS pair_count,
    trajectory_count::BIGINT AS trajectory_count,
    forward_rows::BIGINT AS forward_rows,
    naive_rows::BIGINT AS naive_rows,
    batch_size::BIGINT AS batch_size,
    requested_batch_size::BIGINT AS requested_batch_size,
    load_seconds::DOUBLE AS load_seconds,
    build_seconds::DOUBLE AS build_seconds,
    forward_seconds::DOUBLE AS forward_seconds,
    wall_seconds::DOUBLE AS wall_seconds,
    peak_memory_bytes::BIGINT AS peak_memory_bytes,
    device::VARCHAR AS device,
    worker::VARCHAR AS worker,
    started_at::TIMESTAMPTZ AS started_at
FROM read_parquet(
    getvariable('files').costs,
    hive_partitioning = true,
    hive_types = {study: VARCHAR, model_id: VARCHAR}
);
