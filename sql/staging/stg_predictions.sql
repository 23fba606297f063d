-- purpose: score values of the clean images, as written
-- grain: one row per study, model and clean image
-- inputs: files.predictions
-- paper: appendix F
CREATE OR REPLACE VIEW stg_predictions AS
SELECT
    study::VARCHAR AS study,
    model_id::VARCHAR AS model_id,
    shard_key::VARCHAR AS shard_key,
    image_id::VARCHAR AS image_id,
    class_scores::DOUBLE[] AS class_scores,
    predicted_class::BIGINT AS predicted_class
FROM read_parquet(
    getvariable('files').predictions,
    hive_partitioning = true,
    hive_types = {study: VARCHAR, model_id: VARCHAR}
);
