-- purpose: how well every method tells every behaviour among units of about equal Abs
-- grain: one row per study, bin of Abs, method and label
-- inputs: core_unit_bins, core_unit_scores, discrimination
-- paper: section 6.2 (figure 3c); appendix F
-- Another number of bins: bin_macros and discrimination_in_bins over core_unit_scores.
CREATE OR REPLACE VIEW out_unit_bins AS
WITH units AS MATERIALIZED (
    SELECT study, bin, method, label, is_shown, score
    FROM core_unit_scores
    JOIN core_unit_bins USING (study, model_id, source_id)
    WHERE is_complete
),
-- Numbered, because names would be compared millions of times.
cells AS MATERIALIZED (
    SELECT row_number() OVER () AS g, *
    FROM (SELECT DISTINCT study, bin, method, label FROM units)
),
entries AS (
    SELECT g, is_shown AS label, score FROM units JOIN cells USING (study, bin, method, label)
),
bins AS (
    SELECT
        study, bin, min(lower_edge) AS lower_edge, min(upper_edge) AS upper_edge,
        count(*) AS unit_count, count(DISTINCT model_id) AS model_count
    FROM core_unit_bins
    GROUP BY study, bin
),
support AS (
    SELECT study, bin, bool_and(has_both) AS is_common
    FROM (
        SELECT study, bin, bool_or(is_shown) AND NOT bool_and(is_shown) AS has_both
        FROM units
        GROUP BY study, bin, label
    )
    GROUP BY study, bin
)
SELECT
    cells.study AS study,
    cells.bin AS bin, -- from 0; equal magnitudes lie in one bin, so that there may be fewer than 20
    cells.method AS method,
    cells.label AS label,
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
FROM discrimination_by_group('entries')
JOIN cells USING (g)
JOIN bins USING (study, bin)
JOIN support USING (study, bin)
ORDER BY study, bin, method, label;
