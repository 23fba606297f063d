-- purpose: percentile limits of replicates at the two levels of the paper, side by side
-- grain: one row per group g
-- paper: appendix D.8 (statistical summaries)
-- rel names a relation with columns g (group, any type), replicate (NULL for the sample itself) and
-- value; NULL is an undefined replicate. The sample's value is the estimate.
CREATE OR REPLACE MACRO two_level_limits(rel) AS TABLE
WITH given AS MATERIALIZED (FROM query_table(rel)),
replicates AS (SELECT g, value FROM given WHERE replicate IS NOT NULL),
limits AS (
    SELECT
        g,
        max(lower_limit) FILTER (level = 0.9) AS lower_90,
        max(upper_limit) FILTER (level = 0.9) AS upper_90,
        max(lower_limit) FILTER (level = 0.95) AS lower_95,
        max(upper_limit) FILTER (level = 0.95) AS upper_95
    FROM percentile_limits('replicates', [0.9, 0.95])
    GROUP BY g
)
SELECT g, value AS estimate, lower_90, upper_90, lower_95, upper_95
FROM (FROM given WHERE replicate IS NULL) AS sample
JOIN limits USING (g);
