-- purpose: units of about equal Abs, matched one to one
-- grain: one row per analysis and pair of units of about equal Abs
-- inputs: files.matched_pairs
-- paper: appendix F (magnitude-matched pairs)
CREATE OR REPLACE VIEW stg_matched_pairs AS
SELECT
    study::VARCHAR AS study,
    analysis_key::VARCHAR AS analysis_key,
    run_id::VARCHAR AS run_id,
    position::BIGINT AS position,
    left_model_id::VARCHAR AS left_model_id,
    left_source_id::VARCHAR AS left_source_id,
    left_abs_response::DOUBLE AS left_abs_response,
    right_model_id::VARCHAR AS right_model_id,
    right_source_id::VARCHAR AS right_source_id,
    right_abs_response::DOUBLE AS right_abs_response
FROM read_parquet(
    getvariable('files').matched_pairs,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
