-- purpose: AUROC and AUPRC of every behaviour inside quantile bins of a magnitude
-- grain: one row per group g, bin and behaviour
-- inputs: discrimination, empty_bins, quantile_bins
-- paper: section 6.2; appendix F
-- rel names a relation with columns g, unit, magnitude, behaviour, label and score, one row per
-- unit and behaviour.
-- FROM discrimination_in_bins('my_units', 20)
CREATE OR REPLACE MACRO discrimination_in_bins(rel, bin_count) AS TABLE
WITH bins AS MATERIALIZED (FROM quantile_bins(rel, bin_count)),
cells AS MATERIALIZED (
    SELECT {g: units.g, bin: bins.bin, behaviour: units.behaviour} AS g, units.label, units.score
    FROM query_table(rel) AS units
    JOIN bins ON bins.g IS NOT DISTINCT FROM units.g AND bins.unit IS NOT DISTINCT FROM units.unit
    WHERE bins.bin IS NOT NULL
),
-- Whether a bin is common support depends on labels alone, not on which scores are missing.
support AS (
    SELECT g, bool_and(has_both) OVER (PARTITION BY g.g, g.bin) AS is_common
    FROM (
        SELECT g, min(label::DOUBLE) = 0 AND max(label::DOUBLE) = 1 AS has_both
        FROM cells
        GROUP BY g
    )
),
widths AS MATERIALIZED (
    SELECT
        g, bin,
        min(lower_edge) AS lower_edge, min(upper_edge) AS upper_edge, count(*) AS unit_count
    FROM bins
    WHERE bin IS NOT NULL
    GROUP BY g, bin
)
SELECT
    g.g AS g,
    g.bin AS bin, -- from 0
    g.behaviour AS behaviour,
    lower_edge, -- unit of the magnitude; an edge between two empty bins is NULL
    upper_edge,
    unit_count,
    positive_count,
    negative_count,
    auroc,
    auprc,
    reason,
    coalesce(is_common, false) AS is_common -- every behaviour occurs here, and is absent here
FROM discrimination_by_group('cells') AS found
JOIN support USING (g)
JOIN widths ON widths.g IS NOT DISTINCT FROM found.g.g AND widths.bin = found.g.bin
UNION ALL
SELECT empty.g, bin, behaviour, lower_edge, upper_edge, 0, 0, 0, NULL, NULL, 'no unit in the bin',
    false
FROM empty_bins('widths') AS empty
JOIN (SELECT DISTINCT g.g AS g, g.behaviour AS behaviour FROM cells) AS present
    ON present.g IS NOT DISTINCT FROM empty.g;
