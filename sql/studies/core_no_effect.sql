-- purpose: values that the paper reads as no effect, and that therefore have no direction
-- grain: one row per study of the paper, unit, method, part and statistic; the unit may be any
-- They are typed in sql/studies/<study>/no_effect.csv.
CREATE OR REPLACE TABLE core_no_effect AS
SELECT
    study, -- folder of decaf/studies
    unit, -- as in core_published; NULL is any
    method,
    part,
    statistic,
    why -- the paper reads it so
FROM csv('studies/*/no_effect.csv');
