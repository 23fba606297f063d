-- purpose: Spearman correlation by group, ties sharing their average rank
-- grain: one row per group g
-- inputs: none
-- paper: section 6.3
-- rel names a relation with columns g (group, any type), x and y. Rows where either is NULL or NaN
-- are left out. FROM spearman_by_group('my_pairs')
CREATE OR REPLACE MACRO spearman_by_group(rel) AS TABLE
WITH entries AS (
    SELECT
        g,
        -- NULL and NaN compare as unknown and as greatest: both are made NULL first.
        CASE WHEN NOT isnan(x::DOUBLE) AND NOT isnan(y::DOUBLE) THEN x::DOUBLE END AS x,
        CASE WHEN NOT isnan(x::DOUBLE) AND NOT isnan(y::DOUBLE) THEN y::DOUBLE END AS y
    FROM query_table(rel)
),
ranks AS (
    SELECT
        g,
        x IS NOT NULL AS is_complete,
        rank() OVER (PARTITION BY g, is_complete ORDER BY x)
            + (count(*) OVER (PARTITION BY g, x) - 1) / 2 AS x_rank,
        rank() OVER (PARTITION BY g, is_complete ORDER BY y)
            + (count(*) OVER (PARTITION BY g, y) - 1) / 2 AS y_rank
    FROM entries
),
groups AS (
    SELECT
        g,
        count(*) FILTER (WHERE is_complete) AS entry_count,
        min(x_rank) FILTER (WHERE is_complete) = max(x_rank) FILTER (WHERE is_complete)
            OR min(y_rank) FILTER (WHERE is_complete) = max(y_rank) FILTER (WHERE is_complete)
            AS is_constant,
        corr(x_rank, y_rank) FILTER (WHERE is_complete) AS correlation
    FROM ranks
    GROUP BY g
)
SELECT
    g,
    entry_count,
    CASE WHEN entry_count > 1 AND NOT is_constant THEN correlation END AS spearman,
    CASE
        WHEN entry_count < 2 THEN 'fewer than two entries'
        WHEN is_constant THEN 'all values of one side are equal'
    END AS reason
FROM groups;
