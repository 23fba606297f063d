-- purpose: paired difference of two means, with intervals from replicates that share their draws
-- grain: one row per group g and level
-- inputs: percentile_limits
-- paper: appendix D.8 (statistical summaries)
-- rel names a relation with columns g (group, any type), side, mean, source_count and replicate,
-- which is NULL for the sample itself.
CREATE OR REPLACE MACRO mean_differences(rel, side_a, side_b, levels) AS TABLE
WITH paired AS MATERIALIZED (
    SELECT
        a.g,
        a.replicate,
        a.mean AS mean_a,
        b.mean AS mean_b,
        least(a.source_count, b.source_count) AS source_count
    FROM (FROM query_table(rel) WHERE side = side_a) AS a
    JOIN (FROM query_table(rel) WHERE side = side_b) AS b
        ON b.g = a.g AND b.replicate IS NOT DISTINCT FROM a.replicate
),
entries AS (SELECT g, mean_a - mean_b AS value FROM paired WHERE replicate IS NOT NULL)
SELECT
    g,
    level,
    mean_a,
    mean_b,
    mean_a - mean_b AS difference,
    CASE WHEN source_count > 1 THEN standard_error END AS standard_error,
    CASE WHEN source_count > 1 THEN lower_limit END AS lower_limit,
    CASE WHEN source_count > 1 THEN upper_limit END AS upper_limit,
    source_count, -- of the side that has fewer
    replicate_count -- those in which both sides have any source
FROM (FROM paired WHERE replicate IS NULL)
JOIN percentile_limits('entries', levels) USING (g);
