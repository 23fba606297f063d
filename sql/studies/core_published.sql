-- purpose: values of the paper, for comparison with those of a study
-- grain: one row per study of the paper, unit, method, part and statistic
-- paper: all tables; figures where the text or the authors' results give numbers
-- They are typed in sql/studies/<study>/published.csv. A cell that the paper prints twice counts
-- with more digits, then with its interval; exact has those that it does not print: of the authors'
-- results, or of printed counts. unit, method and part are empty where a value is not of one. As a
-- table they are parsed once, when the views are bound.
CREATE OR REPLACE TABLE core_published AS
WITH typed AS (
    SELECT
        * REPLACE (
            coalesce(unit, '') AS unit, coalesce(method, '') AS method, coalesce(part, '') AS part
        ),
        length(split_part(value, '.', 2)) AS digits,
        row_number() OVER () AS position
    FROM csv('studies/*/published.csv')
)
SELECT
    study, -- folder of decaf/studies
    -- In the paper: every one where it prints the value.
    list_aggregate(list_sort(list_distinct(list(place) OVER cell)), 'string_agg', ', ') AS place,
    unit, -- such as a family, a pair type or a module
    method,
    part, -- such as a label, a metric or a behaviour
    statistic,
    coalesce(exact, value)::DOUBLE AS value,
    lower::DOUBLE AS lower_95,
    upper::DOUBLE AS upper_95,
    value AS printed, -- NULL where only a figure shows it, or it follows from printed values
    digits, -- decimals of printed
    remark, -- why a study's number less this one says nothing; NULL where it does
    position -- in the files
FROM typed
WINDOW cell AS (PARTITION BY study, unit, method, part, statistic)
QUALIFY row_number() OVER (cell ORDER BY exact IS NULL, digits DESC, lower IS NULL, place) = 1;
