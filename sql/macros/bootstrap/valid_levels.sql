-- purpose: distinct levels of intervals; an error for a level outside 0 to 1
-- grain: one row per level
-- paper: appendix D.8 (statistical summaries)
-- FROM valid_levels([0.9, 0.95])
CREATE OR REPLACE MACRO valid_levels(levels) AS TABLE
SELECT DISTINCT
    CASE
        WHEN level > 0 AND level < 1 THEN level
        ELSE error('bootstrap: every level must lie between 0 and 1')
    END AS level
FROM (SELECT unnest(levels)::DOUBLE AS level);
