-- purpose: columns of a view and their types, without binding its inputs
SELECT column_name, data_type
FROM duckdb_columns()
WHERE table_name = ?
ORDER BY column_index
