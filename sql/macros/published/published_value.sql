-- purpose: one value of the paper
-- grain: scalar macro
-- NULL if the paper has no such value. paper is a folder of decaf/studies. Qualify a column that
-- you pass as the unit with its table, since core_published has a column unit.
CREATE OR REPLACE MACRO published_value(paper, unit_of, statistic_of) AS (
    SELECT any_value(value)
    FROM core_published
    WHERE study = paper AND unit = unit_of AND method = '' AND part = '' AND statistic = statistic_of
);
