-- purpose: trajectories withheld because a score was not finite
-- grain: one row per trajectory withheld because a score was not finite
-- inputs: files.quarantine
-- paper: none
CREATE OR REPLACE VIEW stg_quarantine AS
SELECT
    study::VARCHAR AS study,
    model_id::VARCHAR AS model_id,
    shard_key::VARCHAR AS shard_key,
    pair_id::VARCHAR AS pair_id,
    path::VARCHAR AS path,
    repetition::BIGINT AS repetition,
    stage_count::BIGINT AS stage_count,
    non_finite_count::BIGINT AS non_finite_count
FROM read_parquet(
    getvariable('files').quarantine,
    hive_partitioning = true,
    hive_types = {study: VARCHAR, model_id: VARCHAR}
);
