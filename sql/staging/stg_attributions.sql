-- purpose: spatial attribution inside the difference region of every pair
-- grain: one row per study, model, pair and spatial attribution method
-- inputs: files.attributions
-- paper: appendix F
CREATE OR REPLACE VIEW stg_attributions AS
SELECT
    study::VARCHAR AS study,
    model_id::VARCHAR AS model_id,
    measurement_key::VARCHAR AS measurement_key,
    pair_id::VARCHAR AS pair_id,
    method::VARCHAR AS method,
    region_score::DOUBLE AS region_score,
    region_pixels::BIGINT AS region_pixels
FROM read_parquet(
    getvariable('files').attributions,
    hive_partitioning = true,
    hive_types = {study: VARCHAR, model_id: VARCHAR}
);
