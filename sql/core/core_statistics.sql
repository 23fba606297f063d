-- purpose: what each statistic is called, its unit, and which way is better
-- grain: one row per statistic
-- They are typed in sql/core/statistics.csv, and in that of a study those that it alone has.
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
