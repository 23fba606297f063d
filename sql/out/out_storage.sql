-- purpose: number and size of the files of each table
-- grain: one row per study and table
-- It counts the files that readers use: compacted files instead of the files that they replace.
CREATE OR REPLACE VIEW out_storage AS
SELECT
    study,
    table_name,
    count(*) AS file_count,
    sum(row_count)::BIGINT AS row_count,
    sum(byte_count)::BIGINT AS total_bytes,
    median(byte_count)::DOUBLE AS median_bytes,
    -- Files below 1 MiB that `decaf compact` merges.
    count(*) FILTER (kind = 'units' AND byte_count < 1048576) AS small_file_count,
    count(*) FILTER (NOT is_readable) AS lost_file_count -- missing or damaged
FROM receipt_files
GROUP BY study, table_name
ORDER BY study, table_name;
