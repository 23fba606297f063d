-- purpose: one value of the paper
-- grain: scalar macro
-- It is NULL where the paper has none. paper is a folder of decaf/studies. A column that is given for
-- the unit needs its table before it: core_published has one of that name.
CREATE OR REPLACE MACRO published_value(paper, unit_of, statistic_of) AS (
    SELECT any_value(value)
    FROM core_published
    WHERE study = paper AND unit = unit_of AND method = '' AND part = '' AND statistic = statistic_of
);
