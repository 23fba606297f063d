-- purpose: runs that were started
-- grain: one row per run, written when it starts
-- inputs: files.runs
-- paper: none
CREATE OR REPLACE VIEW stg_runs AS
SELECT
    study::VARCHAR AS study,
    run_id::VARCHAR AS run_id,
    started_at::TIMESTAMPTZ AS started_at,
    epsilon::DOUBLE AS epsilon,
    pairs_digest::VARCHAR AS pairs_digest,
    shard_count::BIGINT AS shard_count,
    score::VARCHAR AS score,
    config::VARCHAR AS config,
    software::VARCHAR AS software
FROM read_parquet(
    getvariable('files').runs,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
