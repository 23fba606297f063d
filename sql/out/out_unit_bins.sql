-- purpose: how well every method tells every behaviour among units of about equal Abs
-- grain: one row per study, bin of Abs, method and label
-- inputs: core_unit_bins, core_unit_scores, discrimination_in_bins
-- paper: section 6.2 (figure 3c); appendix F
-- Another number of bins: bin_macros and discrimination_in_bins over core_unit_scores.
CREATE OR REPLACE VIEW out_unit_bins AS
WITH units AS MATERIALIZED (
    SELECT
        {study: study, method: method} AS g,
        {model_id: model_id, source_id: source_id} AS unit,
        abs_response AS magnitude,
        label AS behaviour,
        is_shown AS label,
        score
    FROM core_unit_scores
    WHERE is_complete
),
models AS (
    SELECT study, bin, count(DISTINCT model_id) AS model_count
    FROM core_unit_bins
    GROUP BY study, bin
)
SELECT
    g.study AS study,
    cell.bin, -- from 0; equal magnitudes lie in one bin, so that there may be fewer than 20
    g.method AS method,
    behaviour AS label,
    lower_edge, -- Abs, score units
    upper_edge,
    unit_count,
    model_count,
    positive_count, -- units with a score
    negative_count,
    auroc, -- NULL unless both classes are there
    auprc,
    is_common, -- every label occurs in the bin, and is absent in it
    reason
FROM discrimination_in_bins('units', 20) AS cell
JOIN models ON models.study = g.study AND models.bin = cell.bin
ORDER BY g.study, cell.bin, g.method, label;
