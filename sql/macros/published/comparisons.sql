-- purpose: numbers of all studies for which the paper has a value, by its cell
-- grain: one row per study and cell: paper, unit, method, part and statistic
-- paper: all tables; figures where the text or the authors' results give numbers
-- Each study package has its rows in sql/studies/<study>/core_<study>_comparisons.sql. This is a
-- macro because DuckDB takes a minute to plan it; `decaf results` calls it over tables in memory.
CREATE OR REPLACE MACRO comparisons() AS TABLE
WITH sizes AS (SELECT study, count(*) AS model_count FROM out_models GROUP BY study)
SELECT
    numbers.paper, -- folder of decaf/studies
    numbers.unit, -- as in core_published, like the next three; NULL if the number has none
    numbers.method,
    numbers.part,
    numbers.statistic,
    numbers.study, -- the study that measured the number
    model_count, -- models of the study
    sample_size, -- images, foregrounds, rows or scenes of the study
    is_official, -- the data have the counts of the paper's
    why, -- sentence on the data
    estimate,
    numbers.lower_95,
    numbers.upper_95,
    reason -- why the estimate is NULL, or what it measures
FROM studies('comparisons') AS numbers
JOIN sizes USING (study)
SEMI JOIN core_published AS published ON published.study = paper
    AND published.unit = coalesce(numbers.unit, '')
    AND published.method = coalesce(numbers.method, '')
    AND published.part = coalesce(numbers.part, '')
    AND published.statistic = numbers.statistic;
