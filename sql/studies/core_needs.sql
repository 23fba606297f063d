-- purpose: data and machines needed for statistics that a small machine cannot compute
-- grain: one row per study of the paper, unit (or any) and statistic (or any)
-- Rows are in sql/studies/<study>/needs.csv.
CREATE OR REPLACE TABLE core_needs AS
SELECT
    study, -- folder of decaf/studies
    unit, -- as in core_published; NULL is any
    statistic,
    needs
FROM csv('studies/*/needs.csv');
