-- purpose: reveal paths of each run
-- grain: one row per run and reveal path
-- inputs: files.paths
-- paper: section 2; section 5
CREATE OR REPLACE VIEW stg_paths AS
SELECT
    study::VARCHAR AS study,
    run_id::VARCHAR AS run_id,
    path::VARCHAR AS path,
    position::BIGINT AS position,
    kind::VARCHAR AS kind,
    identity::VARCHAR AS identity,
    t::DOUBLE[] AS t,
    repetition_count::BIGINT AS repetition_count,
    has_common_start::BOOLEAN AS has_common_start
FROM read_parquet(
    getvariable('files').paths,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
