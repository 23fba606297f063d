-- purpose: clean inputs of the sets of pairs that were audited
-- grain: one row per set of pairs and clean input
-- inputs: files.images
-- paper: none
CREATE OR REPLACE VIEW stg_images AS
SELECT
    study::VARCHAR AS study,
    pairs_digest::VARCHAR AS pairs_digest,
    image_id::VARCHAR AS image_id,
    variant::VARCHAR AS variant,
    digest::VARCHAR AS digest
FROM read_parquet(
    getvariable('files').images,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
