-- purpose: standard error and percentile limits of replicates at any levels
-- grain: one row per group g and level
-- paper: appendix D.8 (statistical summaries)
-- rel names a relation with columns g (group, any type) and value; an undefined replicate is NULL.
-- FROM percentile_limits('my_replicates', [0.9, 0.95])
CREATE OR REPLACE MACRO percentile_limits(rel, levels) AS TABLE
WITH groups AS (
    SELECT
        g,
        count(value) AS replicate_count,
        stddev_samp(value) AS standard_error,
        list(value::DOUBLE ORDER BY value) FILTER (value IS NOT NULL) AS replicates
    FROM query_table(rel)
    GROUP BY g
)
SELECT
    g,
    level, -- level 0.95 leaves out 0.025 of the replicates at each end
    standard_error,
    limit_at(replicates, (1 - level) / 2) AS lower_limit,
    limit_at(replicates, 1 - (1 - level) / 2) AS upper_limit,
    replicate_count
FROM groups
CROSS JOIN valid_levels(levels);
