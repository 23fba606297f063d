-- purpose: name and unit of each statistic, and which direction is better
-- grain: one row per statistic
-- Rows are in sql/core/statistics.csv, and those of one study in its statistics.csv.
CREATE OR REPLACE TABLE core_statistics AS
SELECT
    statistic,
    title,
    unit_of_value, -- share, ratio, correlation, count, score, s, ms, bytes or GiB
    better, -- higher or lower; NULL if neither is better
    formula,
    definition,
    neutral::DOUBLE AS neutral -- value without any effect; NULL if there is none
FROM csv('**/statistics.csv');
