-- purpose: Spearman correlation by group, with bootstrap intervals at two levels
-- grain: one row per group g
-- paper: section 5; section 6.3; appendix I (joint family and seed bootstrap)
-- rel is as for spearman_replicates. A group without complete rows has a row, too.
-- FROM spearman_intervals('my_rows', 500, 7601)
CREATE OR REPLACE MACRO spearman_intervals(rel, replicates, seed) AS TABLE
WITH given AS MATERIALIZED (
    SELECT *, NOT isnan(x::DOUBLE) AND NOT isnan(y::DOUBLE) AS is_complete FROM query_table(rel)
),
counted AS (
    SELECT g, count(*) FILTER (is_complete) AS entry_count,
        count(DISTINCT cluster) FILTER (is_complete) AS cluster_count
    FROM given
    GROUP BY g
),
resampled AS MATERIALIZED (FROM spearman_replicates('given', replicates, seed)),
limits AS (FROM two_level_limits('resampled'))
SELECT
    g,
    entry_count, -- rows with both numbers
    estimate, -- NULL for the reason given, and then without an interval
    CASE WHEN cluster_count > 1 AND estimate IS NOT NULL THEN COLUMNS('^(lower|upper)_') END,
    CASE
        WHEN entry_count < 2 THEN 'fewer than two entries'
        WHEN estimate IS NULL THEN 'all values of one side are equal'
        WHEN cluster_count = 1 THEN 'a single cluster has no interval'
    END AS reason
FROM counted
LEFT JOIN limits USING (g);
