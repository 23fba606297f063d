-- purpose: keys that several rows share, in the form of a check
-- grain: one row per table, study, model and key of rel that occurs more than once
-- rel names a relation with columns table_name, study, model_id and key (a list of texts), one row
-- per row of the table.
-- FROM repeated_keys('my_keys')
CREATE OR REPLACE MACRO repeated_keys(rel) AS TABLE
SELECT
    study,
    model_id,
    table_name || '/' || array_to_string(given.key, '/') AS key,
    format('{} rows', count(*)) AS found,
    '1 row' AS expected
FROM query_table(rel) AS given
GROUP BY table_name, study, model_id, given.key
HAVING count(*) > 1;
