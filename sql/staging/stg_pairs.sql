-- purpose: sets of pairs that were audited
-- grain: one row per set of pairs and pair
-- inputs: files.pairs
-- paper: section 2; appendix F.3
CREATE OR REPLACE VIEW stg_pairs AS
SELECT
    study::VARCHAR AS study,
    pairs_digest::VARCHAR AS pairs_digest,
    pair_id::VARCHAR AS pair_id,
    source_id::VARCHAR AS source_id,
    pair_type::VARCHAR AS pair_type,
    class_id::BIGINT AS class_id,
    split::VARCHAR AS split,
    plus_image::VARCHAR AS plus_image,
    minus_image::VARCHAR AS minus_image,
    plus_variant::VARCHAR AS plus_variant,
    minus_variant::VARCHAR AS minus_variant
FROM read_parquet(
    getvariable('files').pairs,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
