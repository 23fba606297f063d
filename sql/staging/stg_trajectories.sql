-- purpose: committed score trajectories of both branches, as written
-- grain: one row per study, model, pair, path and repetition
-- inputs: files.trajectories
-- paper: section 2
CREATE OR REPLACE VIEW stg_trajectories AS
SELECT
    study::VARCHAR AS study,
    model_id::VARCHAR AS model_id,
    shard_key::VARCHAR AS shard_key,
    pair_id::VARCHAR AS pair_id,
    path::VARCHAR AS path,
    repetition::BIGINT AS repetition,
    t::DOUBLE[] AS t,
    q_plus::DOUBLE[] AS q_plus,
    q_minus::DOUBLE[] AS q_minus
FROM read_parquet(
    getvariable('files').trajectories,
    hive_partitioning = true,
    hive_types = {study: VARCHAR, model_id: VARCHAR}
);
