-- purpose: committed files that are on disk and readable
-- grain: one row per file
CREATE OR REPLACE VIEW stg_files AS
SELECT
    -- Relative to the warehouse; the file itself may be a local copy.
    receipt.path::VARCHAR AS path,
    file.num_rows::BIGINT AS row_count
FROM parquet_file_metadata(getvariable('files').any) AS file
JOIN (SELECT DISTINCT path, file_name FROM receipt_files) AS receipt USING (file_name);
