-- purpose: scores of every method on models whose treatment names a mechanism
-- grain: one row per model, method and label
-- paper: appendix I (fixed semantic readout)
-- rel is as for covertype_scores. The label of direct is evidence, of invert contradiction, and of
-- fragile fragility. Probes are methods named after their features; their scores are probabilities
-- from a fold without the model's family. Models lie in 12 quantile bins of Abs. Columns are those
-- of core_unit_scores.
CREATE OR REPLACE MACRO covertype_units(rel) AS TABLE
WITH labelled AS MATERIALIZED (FROM query_table(rel) WHERE mechanism_label IS NOT NULL),
magnitudes AS (SELECT study AS g, model_id AS unit, abs_response AS magnitude FROM labelled),
bins AS (
    SELECT g AS study, unit AS model_id, bin, lower_edge, upper_edge
    FROM quantile_bins('magnitudes', 12)
),
scored AS (
    SELECT study, model_id, method, label, score, reason FROM covertype_scores('labelled')
    UNION ALL
    SELECT study, model_id, representation, label, probability, reason FROM core_probe_predictions
)
SELECT
    study,
    'model' AS unit_kind,
    model_id,
    labelled.family,
    '' AS source_id,
    method,
    label,
    label = mechanism_label AS is_shown,
    score, -- score units, a probability, or the unit of the method
    abs_response, -- score units
    endpoint_magnitude, -- score units
    bin,
    lower_edge,
    upper_edge,
    TRUE AS is_complete,
    reason -- why the score is NULL
FROM scored
JOIN labelled USING (study, model_id)
JOIN bins USING (study, model_id);
