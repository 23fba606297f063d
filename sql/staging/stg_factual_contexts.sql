-- purpose: own context of every audited row of Covertype, as drawn for every training seed
-- grain: one row per analysis, module, training seed and row of the table
-- inputs: files.factual_contexts
-- paper: appendix I (setup)
CREATE OR REPLACE VIEW stg_factual_contexts AS
SELECT
    study::VARCHAR AS study,
    analysis_key::VARCHAR AS analysis_key,
    run_id::VARCHAR AS run_id,
    module::VARCHAR AS module,
    seed::BIGINT AS seed,
    source_id::VARCHAR AS source_id,
    context::BIGINT AS context
FROM read_parquet(
    getvariable('files').factual_contexts,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
