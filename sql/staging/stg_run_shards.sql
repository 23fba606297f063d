-- purpose: shards that each run planned
-- grain: one row per run and planned shard
-- inputs: files.run_shards
-- paper: none
CREATE OR REPLACE VIEW stg_run_shards AS
SELECT
    study::VARCHAR AS study,
    run_id::VARCHAR AS run_id,
    shard_key::VARCHAR AS shard_key,
    profile_key::VARCHAR AS profile_key,
    model_id::VARCHAR AS model_id,
    block::BIGINT AS block,
    pair_count::BIGINT AS pair_count,
    trajectory_count::BIGINT AS trajectory_count
FROM read_parquet(
    getvariable('files').run_shards,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
