-- purpose: values of the paper
-- grain: one row per study of the paper, unit, method, part and statistic
-- paper: all tables; figures where the text or the authors' results give numbers
-- Rows are in sql/studies/<study>/published.csv. If the paper prints a value twice, the one with
-- more digits counts, then the one with an interval; exact has digits that it does not print, from
-- the authors' results or from printed counts. unit, method and part are empty if a value has none.
-- This is a table, so that rows are parsed once, when views are bound.
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
    -- All places of the paper that print the value.
    list_aggregate(list_sort(list_distinct(list(place) OVER cell)), 'string_agg', ', ') AS place,
    unit, -- such as a family, a pair type or a module
    method,
    part, -- such as a label, a metric or a behaviour
    statistic,
    coalesce(exact, value)::DOUBLE AS value,
    lower::DOUBLE AS lower_95,
    upper::DOUBLE AS upper_95,
    value AS printed, -- NULL if only a figure shows it, or printed values imply it
    digits, -- decimals of printed
    remark, -- why differences from the value have no meaning; NULL if they have one
    position -- in the files
FROM typed
WINDOW cell AS (PARTITION BY study, unit, method, part, statistic)
QUALIFY row_number() OVER (cell ORDER BY exact IS NULL, digits DESC, lower IS NULL, place) = 1;
