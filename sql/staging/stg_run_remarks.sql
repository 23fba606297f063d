-- purpose: what each run leaves out of its data
-- grain: one row per run and remark
-- inputs: files.run_remarks
-- paper: none
CREATE OR REPLACE VIEW stg_run_remarks AS
SELECT
    study::VARCHAR AS study,
    run_id::VARCHAR AS run_id,
    position::BIGINT AS position,
    remark::VARCHAR AS remark
FROM read_parquet(
    getvariable('files').run_remarks,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
