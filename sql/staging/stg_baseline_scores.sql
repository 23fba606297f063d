-- purpose: what other methods say of a table's factor
-- grain: one row per study, model, baseline and component
-- inputs: files.baseline_scores
-- paper: section 5, appendix I
CREATE OR REPLACE VIEW stg_baseline_scores AS
SELECT
    study::VARCHAR AS study,
    model_id::VARCHAR AS model_id,
    baseline_key::VARCHAR AS baseline_key,
    method::VARCHAR AS method,
    component::VARCHAR AS component,
    score::DOUBLE AS score,
    explained_rows::BIGINT AS explained_rows,
    reason::VARCHAR AS reason
FROM read_parquet(
    getvariable('files').baseline_scores,
    hive_partitioning = true,
    hive_types = {study: VARCHAR, model_id: VARCHAR}
);
