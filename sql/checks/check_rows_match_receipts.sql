-- purpose: every committed file is on disk, readable, and has the rows of its receipt
-- grain: one row per file that is missing, damaged, or has another number of rows
SELECT
    'check_rows_match_receipts' AS check_name,
    file.study,
    receipt.model_id,
    file.path AS key,
    CASE
        WHEN file.is_readable THEN format('{} rows', coalesce(disk.row_count, 0))
        ELSE 'missing or damaged'
    END AS found,
    format(
        '{} rows (decaf check --repair withdraws {}/{})', file.row_count, file.kind, file.key
    ) AS expected
FROM receipt_files AS file
JOIN receipts AS receipt USING (kind, study, key)
LEFT JOIN stg_files AS disk USING (path)
WHERE disk.row_count IS DISTINCT FROM file.row_count;
