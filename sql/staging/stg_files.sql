-- purpose: files of commits that are on disk and can be read
-- grain: one row per file
-- inputs: files.any
-- paper: none
CREATE OR REPLACE VIEW stg_files AS
SELECT
    -- Relative to the warehouse, as in receipts.
    substr(file_name, length(getvariable('root')) + 2)::VARCHAR AS path,
    num_rows::BIGINT AS row_count
FROM parquet_file_metadata(getvariable('files').any)
WHERE starts_with(file_name, getvariable('root') || '/tables/');
