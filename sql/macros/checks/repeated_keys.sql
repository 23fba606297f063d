-- purpose: keys that several rows share, in the form of a check
-- grain: one row per table, study, model and key of rel that occurs more than once
-- rel names a relation with columns table_name, study, model_id and key (a list of texts), one row
-- per row of the table. Keys are counted by their hash, in a fraction of the memory, and then those
-- whose hash occurs twice by themselves: a common table expression is NOT MATERIALIZED.
-- FROM repeated_keys('my_keys')
CREATE OR REPLACE MACRO repeated_keys(rel) AS TABLE
SELECT
    study,
    model_id,
    table_name || '/' || array_to_string(given.key, '/') AS key,
    format('{} rows', count(*)) AS found,
    '1 row' AS expected
FROM query_table(rel) AS given
WHERE hash(table_name, study, model_id, given.key) IN (
    SELECT hash(table_name, study, model_id, other.key) AS digest
    FROM query_table(rel) AS other
    GROUP BY digest
    HAVING count(*) > 1
)
GROUP BY table_name, study, model_id, given.key
HAVING count(*) > 1;
