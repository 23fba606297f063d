-- purpose: values that the paper reads as no effect; they have no direction
-- grain: one row per study of the paper, unit (or any), method, part and statistic
-- Rows are in sql/studies/<study>/no_effect.csv.
CREATE OR REPLACE TABLE core_no_effect AS
SELECT
    study, -- folder of decaf/studies
    unit, -- as in core_published; NULL is any
    method,
    part,
    statistic,
    why -- reason for this reading
FROM csv('studies/*/no_effect.csv');
