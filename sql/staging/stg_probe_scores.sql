-- purpose: probes of behaviours, each judged on a held-out family of models
-- grain: one row per analysis, representation, probe, held-out family and label
-- inputs: files.probe_scores
-- paper: section 6.2 (leave-one-family-out probes)
CREATE OR REPLACE VIEW stg_probe_scores AS
SELECT
    study::VARCHAR AS study,
    analysis_key::VARCHAR AS analysis_key,
    run_id::VARCHAR AS run_id,
    representation::VARCHAR AS representation,
    probe::VARCHAR AS probe,
    family::VARCHAR AS family,
    label::VARCHAR AS label,
    auroc::DOUBLE AS auroc,
    train_count::BIGINT AS train_count,
    train_positives::BIGINT AS train_positives,
    test_count::BIGINT AS test_count,
    test_positives::BIGINT AS test_positives,
    reason::VARCHAR AS reason
FROM read_parquet(
    getvariable('files').probe_scores,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
