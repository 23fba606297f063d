-- purpose: what probes said of every unit of the family of models that was held out
-- grain: one row per analysis, representation, unit and label
-- inputs: files.probe_predictions
-- paper: appendix I (fixed semantic readout)
CREATE OR REPLACE VIEW stg_probe_predictions AS
SELECT
    study::VARCHAR AS study,
    analysis_key::VARCHAR AS analysis_key,
    run_id::VARCHAR AS run_id,
    representation::VARCHAR AS representation,
    model_id::VARCHAR AS model_id,
    family::VARCHAR AS family,
    label::VARCHAR AS label,
    probability::DOUBLE AS probability,
    feature_count::BIGINT AS feature_count,
    train_count::BIGINT AS train_count,
    reason::VARCHAR AS reason
FROM read_parquet(
    getvariable('files').probe_predictions,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
