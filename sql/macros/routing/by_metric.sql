-- purpose: means of the five metrics as rows instead of columns
-- grain: one row per row of rel and metric
-- paper: appendix C.1
-- rel names a relation with a column for each metric; other columns stay. A mean may be NULL.
-- FROM by_metric('my_means')
CREATE OR REPLACE MACRO by_metric(rel) AS TABLE
FROM (FROM query_table(rel))
UNPIVOT INCLUDE NULLS (mean FOR metric IN (
    endpoint_magnitude, evidence, contradiction, fragility, abs_response
));
