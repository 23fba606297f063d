-- purpose: bootstrap_by_group at the two levels of the paper, side by side
-- grain: one row per group g and statistic (mean, difference, ratio)
-- paper: appendix D.8 (statistical summaries)
-- rel is as for bootstrap_by_group.
-- FROM bootstrap_intervals('my_rows', 500, 91702)
CREATE OR REPLACE MACRO bootstrap_intervals(rel, replicates, seed) AS TABLE
SELECT
    g,
    statistic,
    any_value(COLUMNS(['estimate', 'reason'])),
    any_value(lower_limit) FILTER (level = 0.9) AS lower_90,
    any_value(upper_limit) FILTER (level = 0.9) AS upper_90,
    any_value(lower_limit) FILTER (level = 0.95) AS lower_95,
    any_value(upper_limit) FILTER (level = 0.95) AS upper_95
FROM bootstrap_by_group(rel, replicates, seed, [0.9, 0.95])
GROUP BY g, statistic;
