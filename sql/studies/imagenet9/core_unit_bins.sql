-- purpose: cases of the benchmark in 20 quantile bins of Abs
-- grain: one row per row of core_units
-- paper: section 6.2 (figure 3c); appendix F
CREATE OR REPLACE VIEW core_unit_bins AS
WITH units AS MATERIALIZED (FROM core_units),
magnitudes AS (
    SELECT study AS g, {model_id: model_id, source_id: source_id} AS unit, abs_response AS magnitude
    FROM units
    WHERE reason IS NULL
),
bins AS (
    SELECT g AS study, unnest(unit), bin, lower_edge, upper_edge
    FROM quantile_bins('magnitudes', 20)
)
SELECT
    units.*,
    bin, -- from 0; fewer than 20 if edges are equal; NULL for a case that is left out
    lower_edge, -- score units; part of the bin only if bin = 0
    upper_edge
FROM units
LEFT JOIN bins USING (study, model_id, source_id);
