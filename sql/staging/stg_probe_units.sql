-- purpose: what probes of behaviours said of every unit of the family that was held out
-- grain: one row per analysis, representation, probe, unit and label
-- inputs: files.probe_units
-- paper: section 6.2 (leave-one-family-out probes)
CREATE OR REPLACE VIEW stg_probe_units AS
SELECT
    study::VARCHAR AS study,
    analysis_key::VARCHAR AS analysis_key,
    run_id::VARCHAR AS run_id,
    representation::VARCHAR AS representation,
    probe::VARCHAR AS probe,
    model_id::VARCHAR AS model_id,
    source_id::VARCHAR AS source_id,
    family::VARCHAR AS family,
    label::VARCHAR AS label,
    is_shown::BOOLEAN AS is_shown,
    probability::DOUBLE AS probability
FROM read_parquet(
    getvariable('files').probe_units,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
