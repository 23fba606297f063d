-- purpose: scores of every method for every behaviour of a model on a source
-- grain: one row per study, model, source, method and label
-- paper: section 6.1; appendix F
-- DECAF scores evidence by E, contradiction by C and fragility by F; another method has one score
-- for all three labels. Spatial methods have their names in the study. SignFlip is 0 for inactive
-- pairs, as in the probes.
CREATE OR REPLACE VIEW core_imagenet9_unit_scores AS
WITH units AS MATERIALIZED (FROM core_unit_bins),
spatial AS (
    SELECT DISTINCT study, model_id, name AS method FROM core_measurements WHERE kind = 'attributions'
),
responses AS (
    SELECT
        units.*,
        unnest([
            {method: 'DECAF', scores: [evidence, contradiction, fragility]},
            {method: 'Abs', scores: [abs_response, abs_response, abs_response]},
            {method: 'M', scores: [endpoint_magnitude, endpoint_magnitude, endpoint_magnitude]},
            {method: 'Net', scores: [net_response, net_response, net_response]},
            {method: 'SignFlip', scores: [sign_flip, sign_flip, sign_flip]}
        ], recursive := true)
    FROM units
    CROSS JOIN LATERAL (
        SELECT coalesce(sign_flip_frac, CASE WHEN NOT is_active THEN 0 END) AS sign_flip
    )
    UNION ALL
    SELECT unit.*, method, [region_score, region_score, region_score]
    FROM units AS unit
    JOIN spatial USING (study, model_id)
    LEFT JOIN core_attributions USING (study, model_id, pair_id, method)
)
SELECT
    study,
    'model × source' AS unit_kind,
    model_id,
    family,
    source_id,
    method,
    unnest(['evidence', 'contradiction', 'fragility']) AS label,
    unnest([y_evidence, y_contradiction, y_fragility]) AS is_shown, -- NULL if unknown
    unnest(scores) AS score, -- score units; SignFlip is a share
    abs_response, -- score units
    bin, -- of Abs, from 0
    lower_edge, -- score units
    upper_edge,
    reason IS NULL AS is_complete, -- the case is in the benchmark
    reason -- why the case is left out
FROM responses;
