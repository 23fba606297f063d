-- purpose: name and unit of each statistic, and which direction is better
-- grain: one row per statistic
-- The rows are in sql/core/statistics.csv, and those of one study in its own statistics.csv.
CREATE OR REPLACE TABLE core_statistics AS
SELECT
    statistic,
    title,
    unit_of_value, -- share, ratio, correlation, count, score, s, ms, bytes or GiB
    better, -- higher or lower; NULL where neither is
    formula,
    definition,
    neutral::DOUBLE AS neutral -- value without any effect; NULL where the statistic has none
FROM csv('**/statistics.csv');
