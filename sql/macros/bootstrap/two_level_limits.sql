-- purpose: percentile limits of replicates at the two levels of the paper, side by side
-- grain: one row per group g
-- paper: appendix D.8 (statistical summaries)
-- rel names a relation with columns g (group, any type), replicate (NULL for the sample itself) and
-- value; an undefined replicate is NULL. The value of the sample is the estimate.
CREATE OR REPLACE MACRO two_level_limits(rel) AS TABLE
WITH groups AS (
    SELECT
        g,
        any_value(value) FILTER (replicate IS NULL) AS estimate,
        list(value::DOUBLE ORDER BY value) FILTER (replicate IS NOT NULL AND value IS NOT NULL)
            AS replicates
    FROM query_table(rel)
    GROUP BY g
)
SELECT
    g,
    estimate,
    limit_at(replicates, 0.05) AS lower_90,
    limit_at(replicates, 0.95) AS upper_90,
    limit_at(replicates, 0.025) AS lower_95,
    limit_at(replicates, 0.975) AS upper_95
FROM groups;
