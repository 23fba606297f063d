-- purpose: separation of every behaviour by every method among cases of nearly equal Abs
-- grain: one row per study, bin of Abs, method and label
-- paper: section 6.2 (figure 3c); appendix F
-- For another number of bins, use quantile_bins and label_discrimination on core_unit_scores.
CREATE OR REPLACE VIEW out_unit_bins AS
WITH units AS MATERIALIZED (
    SELECT
        {study: study, bin: bin, method: method, label: label} AS g, is_shown AS label, score,
        model_id, lower_edge, upper_edge
    FROM core_unit_scores
    WHERE is_complete AND bin IS NOT NULL
),
-- Common support of a bin depends only on labels, not on missing scores.
cells AS MATERIALIZED (
    SELECT
        g,
        min(lower_edge) AS lower_edge,
        min(upper_edge) AS upper_edge,
        count(*) AS unit_count,
        count(DISTINCT model_id) AS model_count,
        bool_or(label) AND bool_or(NOT label) AS has_both
    FROM units
    GROUP BY g
),
edges AS (SELECT DISTINCT g.study AS g, g.bin AS bin, lower_edge, upper_edge FROM cells),
judged AS (
    SELECT unnest(g), lower_edge, upper_edge, unit_count, model_count, positive_count,
        negative_count, auroc, auprc, has_both, reason
    FROM discrimination_by_group('units')
    JOIN cells USING (g)
    UNION ALL BY NAME
    SELECT study, bin, method, label, lower_edge, upper_edge, 0 AS unit_count, 0 AS model_count,
        0 AS positive_count, 0 AS negative_count, FALSE AS has_both, 'no unit in the bin' AS reason
    FROM empty_bins('edges') AS empty
    JOIN (SELECT DISTINCT g.study AS study, g.method AS method, g.label AS label FROM cells)
        ON study = empty.g
)
SELECT
    study,
    bin, -- from 0; equal magnitudes lie in one bin, so there may be fewer bins
    method,
    label,
    lower_edge, -- Abs, score units; an edge between two empty bins is NULL
    upper_edge,
    unit_count,
    model_count,
    positive_count, -- cases with a score
    negative_count,
    auroc, -- NULL unless both classes occur
    auprc,
    -- For every label, the bin has cases with it and without it.
    bool_and(has_both) OVER (PARTITION BY study, bin, method) AS is_common,
    reason
FROM judged
ORDER BY study, bin, method, label;
