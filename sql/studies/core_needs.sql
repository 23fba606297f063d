-- purpose: data and machines that numbers of the paper need beyond a small machine with free data
-- grain: one row per study of the paper, unit and statistic, either of which may be any
-- They are typed in sql/studies/<study>/needs.csv.
CREATE OR REPLACE TABLE core_needs AS
SELECT
    study, -- folder of decaf/studies
    unit, -- as in core_published; NULL is any
    statistic,
    needs
FROM csv('studies/*/needs.csv');
