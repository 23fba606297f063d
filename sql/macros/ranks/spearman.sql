-- purpose: Spearman correlation by group, ties sharing their average rank
-- grain: one row per group g
-- paper: section 6.3
-- rel names a relation with columns g (group, any type), x and y. Rows where x or y is NULL or
-- NaN are left out.
-- FROM spearman_by_group('my_pairs')
CREATE OR REPLACE MACRO spearman_by_group(rel) AS TABLE
SELECT
    g,
    count(*) FILTER (NOT isnan(x::DOUBLE) AND NOT isnan(y::DOUBLE)) AS entry_count,
    -- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
    rank_correlation(list(x::DOUBLE), list(y::DOUBLE)) AS spearman,
    CASE
        WHEN entry_count < 2 THEN 'fewer than two entries'
        WHEN spearman IS NULL THEN 'all values of one side are equal'
    END AS reason
FROM query_table(rel)
GROUP BY g;
