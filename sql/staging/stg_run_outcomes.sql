-- purpose: runs that scored every shard and passed their checks
-- grain: one row per run that scored every shard and passed its checks
-- inputs: files.run_outcomes
-- paper: none
CREATE OR REPLACE VIEW stg_run_outcomes AS
SELECT
    study::VARCHAR AS study,
    run_id::VARCHAR AS run_id,
    finished_at::TIMESTAMPTZ AS finished_at,
    forward_rows::BIGINT AS forward_rows,
    quarantined_count::BIGINT AS quarantined_count
FROM read_parquet(
    getvariable('files').run_outcomes,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
