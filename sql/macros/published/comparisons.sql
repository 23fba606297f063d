-- purpose: numbers of all studies for which the paper has a value, by its cell
-- grain: one row per study and cell: paper, unit, method, part and statistic
-- paper: all tables; figures where the text or the authors' results give numbers
-- Every study of the paper fills its own in sql/studies/<study>/core_<study>_comparisons.sql. It is
-- a macro since DuckDB takes a minute to plan it; decaf results asks it over tables that were read.
CREATE OR REPLACE MACRO comparisons() AS TABLE
WITH sizes AS (SELECT study, count(*) AS model_count FROM out_models GROUP BY study)
SELECT
    numbers.paper, -- folder of decaf/studies
    numbers.unit, -- as in core_published, as the three that follow; NULL where it is not of one
    numbers.method,
    numbers.part,
    numbers.statistic,
    numbers.study, -- which the number is of
    model_count, -- of the study
    sample_size, -- images, foregrounds, rows or scenes of the study
    is_official, -- whether its data are the paper's, as far as counts say
    why, -- it is said
    estimate,
    numbers.lower_95,
    numbers.upper_95,
    reason -- why the estimate is NULL, or what it is of
FROM studies('comparisons') AS numbers
JOIN sizes USING (study)
SEMI JOIN core_published AS published ON published.study = paper
    AND published.unit = coalesce(numbers.unit, '')
    AND published.method = coalesce(numbers.method, '')
    AND published.part = coalesce(numbers.part, '')
    AND published.statistic = numbers.statistic;
