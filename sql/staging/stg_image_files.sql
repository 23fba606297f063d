-- purpose: files behind the clean inputs of the sets of pairs that were audited
-- grain: one row per set of pairs and clean input that has a file of its own
-- inputs: files.image_files
-- paper: none
CREATE OR REPLACE VIEW stg_image_files AS
SELECT
    study::VARCHAR AS study,
    pairs_digest::VARCHAR AS pairs_digest,
    image_id::VARCHAR AS image_id,
    file::VARCHAR AS file
FROM read_parquet(
    getvariable('files').image_files,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
