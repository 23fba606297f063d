-- purpose: quantile bins of a magnitude by group, equal magnitudes in one bin
-- grain: one row per group g and unit
-- paper: section 6.2; appendix F
-- rel names a relation with columns g (group, any type), unit and magnitude; the rows of a unit,
-- such as one per behaviour, repeat its magnitude. Edges interpolate linearly between units;
-- equal edges count once. A magnitude that is NULL or not finite lies in no bin.
-- FROM quantile_bins('my_units', 20)

-- Share of the units below an edge, equal to the last bit to that of pandas.qcut: numpy's linspace,
-- rounded up if no DOUBLE is equal to it.
CREATE OR REPLACE MACRO share_below_edge(number, bin_count) AS
    CASE
        WHEN number = bin_count THEN 1
        WHEN number * (1 / bin_count) * bin_count = number THEN number * (1 / bin_count)
        ELSE nextafter(number * (1 / bin_count), 1::DOUBLE)
    END;

CREATE OR REPLACE MACRO quantile_bins(rel, bin_count) AS TABLE
WITH units AS (
    SELECT
        g,
        unit,
        CASE
            WHEN min(magnitude) IS DISTINCT FROM max(magnitude)
                THEN error('quantile_bins: every unit must have one magnitude')
            WHEN isfinite(min(magnitude)::DOUBLE) THEN min(magnitude)::DOUBLE
        END AS magnitude
    FROM query_table(rel)
    GROUP BY g, unit
),
sorted AS (
    SELECT g, list(magnitude ORDER BY magnitude) FILTER (magnitude IS NOT NULL) AS magnitudes
    FROM units
    GROUP BY g
),
cuts AS (
    SELECT g, list_sort(list_distinct(list_transform(
        range(CASE
            WHEN bin_count >= 1 THEN bin_count + 1
            ELSE error('quantile_bins: bin_count must be at least 1')
        END),
        lambda number: interpolated_at(
            magnitudes, share_below_edge(number, bin_count) * (len(magnitudes) - 1)
        )
    ))) AS edges
    FROM sorted
)
SELECT
    units.*,
    CASE
        WHEN magnitude IS NOT NULL THEN len(list_filter(edges[2:-2], lambda e: e < magnitude))
    END AS bin, -- from 0
    edges[bin + 1] AS lower_edge, -- unit of the magnitude; part of the bin only if bin = 0
    coalesce(edges[bin + 2], edges[bin + 1]) AS upper_edge
FROM units
JOIN cuts ON cuts.g IS NOT DISTINCT FROM units.g;
