-- purpose: class scores of factual images under held-out corruptions of the background
-- grain: one row per study, model, factual image and corruption of its background
-- inputs: files.corruptions
-- paper: appendix F
CREATE OR REPLACE VIEW stg_corruptions AS
SELECT
    study::VARCHAR AS study,
    model_id::VARCHAR AS model_id,
    measurement_key::VARCHAR AS measurement_key,
    image_id::VARCHAR AS image_id,
    corruption::VARCHAR AS corruption,
    class_scores::DOUBLE[] AS class_scores,
    predicted_class::BIGINT AS predicted_class
FROM read_parquet(
    getvariable('files').corruptions,
    hive_partitioning = true,
    hive_types = {study: VARCHAR, model_id: VARCHAR}
);
