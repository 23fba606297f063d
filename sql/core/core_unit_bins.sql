-- purpose: units of the benchmark in 20 quantile bins of Abs
-- grain: one row per study, model and source that takes part
-- inputs: core_units, quantile_bins
-- paper: section 6.2 (figure 3c); appendix F
CREATE OR REPLACE VIEW core_unit_bins AS
WITH magnitudes AS (
    SELECT study AS g, {model_id: model_id, source_id: source_id} AS unit, abs_response AS magnitude
    FROM core_units
    WHERE reason IS NULL
)
SELECT
    g AS study,
    unit.model_id AS model_id,
    unit.source_id AS source_id,
    bin, -- from 0; fewer than 20 where edges coincide
    lower_edge, -- score units; the first bin alone holds it
    upper_edge
FROM quantile_bins('magnitudes', 20);
