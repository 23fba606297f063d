-- purpose: scores of every attribution method for every feature of an image
-- grain: one row per study, model, image, feature and method
-- paper: section 7; appendix H
-- decaf_T is E on T evenly thinned stages of the path, endpoint_m is |d|; both are at least 0.
-- Scores of other methods have a sign.
CREATE OR REPLACE VIEW core_attribution_scores AS
WITH leads AS MATERIALIZED (
    SELECT study, run_id, pair_id, path, image_id, feature
    FROM core_attribution_pairs
    WHERE is_leading
),
paths AS (FROM core_paths),
responses AS (
    SELECT
        study, model_id, image_id, feature, epsilon, t,
        q_plus[-1] - q_minus[-1] AS d,
        response_of(q_plus, q_minus) AS response,
        list_transform(response, lambda r: greatest(r, 0)) AS above,
        list_transform(response, lambda r: greatest(-r, 0)) AS below
    FROM core_trajectories
    JOIN core_current_runs USING (study, run_id)
    JOIN leads USING (study, run_id, pair_id, path)
)
SELECT
    study, model_id, image_id, feature, 'decaf_' || stage_count AS method,
    -- Mean over repetitions.
    avg(evidence_at(d, integral_of(above, weights), integral_of(below, weights), epsilon))
        AS score -- score units
FROM responses
JOIN thinned_grids('paths') USING (t)
WHERE stage_count > 2
GROUP BY study, model_id, image_id, feature, stage_count
UNION ALL
SELECT study, model_id, image_id, feature, 'endpoint_m', avg(abs(d))
FROM responses
GROUP BY study, model_id, image_id, feature
UNION ALL
SELECT study, model_id, image_id, feature, method, region_score
FROM core_attributions
JOIN leads USING (study, run_id, pair_id);
