-- purpose: how well every method tells every behaviour among units of about equal Abs
-- grain: one row per study, bin of Abs, method and label
-- inputs: core_unit_scores, discrimination
-- paper: section 6.2 (figure 3c); appendix F
-- Another number of bins: bin_macros and discrimination_in_bins over core_unit_scores.
CREATE OR REPLACE VIEW out_unit_bins AS
WITH units AS MATERIALIZED (
    SELECT
        {study: study, bin: bin, method: method, label: label} AS g, is_shown AS label, score,
        model_id, lower_edge, upper_edge
    FROM core_unit_scores
    WHERE is_complete
),
-- Whether a bin is common support depends on labels alone, not on which scores are missing.
cells AS (
    SELECT
        g,
        min(lower_edge) AS lower_edge,
        min(upper_edge) AS upper_edge,
        count(*) AS unit_count,
        count(DISTINCT model_id) AS model_count,
        bool_or(label) AND bool_or(NOT label) AS has_both
    FROM units
    GROUP BY g
)
SELECT
    g.study AS study,
    g.bin AS bin, -- from 0; equal magnitudes lie in one bin, so that there may be fewer than 20
    g.method AS method,
    g.label AS label,
    lower_edge, -- Abs, score units
    upper_edge,
    unit_count,
    model_count,
    positive_count, -- units with a score
    negative_count,
    auroc, -- NULL unless both classes are there
    auprc,
    -- every label occurs in the bin, and is absent in it
    bool_and(has_both) OVER (PARTITION BY g.study, g.bin, g.method) AS is_common,
    reason
FROM discrimination_by_group('units')
JOIN cells USING (g)
ORDER BY g.study, g.bin, g.method, g.label;
