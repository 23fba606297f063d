-- purpose: quantile bins without a unit
-- grain: one row per group g and empty bin
-- paper: section 6.2; appendix F
-- rel names a relation with columns g (group, any type), bin, lower_edge and upper_edge, and one
-- row per bin with units; the first and the last bin always have units. An edge comes from a
-- neighbouring bin with units, so it is NULL between two empty bins.
CREATE OR REPLACE MACRO empty_bins(rel) AS TABLE
WITH known AS MATERIALIZED (FROM query_table(rel)),
numbers AS (SELECT g, unnest(range(max(bin) + 1)) AS number FROM known GROUP BY g)
SELECT
    numbers.g AS g,
    number AS bin,
    any_value(upper_edge) FILTER (bin = number - 1) AS lower_edge, -- unit of the magnitude
    any_value(lower_edge) FILTER (bin = number + 1) AS upper_edge
FROM numbers
JOIN known ON known.g IS NOT DISTINCT FROM numbers.g
GROUP BY numbers.g, number
HAVING count_if(bin = number) = 0;
