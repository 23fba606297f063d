-- purpose: E and endpoint M of every feature of an image, and the rank of the feature by E
-- grain: one row per study, model, path, image and feature
-- paper: section 7
CREATE OR REPLACE VIEW out_feature_evidence AS
WITH means AS (
    SELECT
        study,
        model_id,
        path,
        pair.plus_image AS image_id,
        feature.feature,
        pair.pair_type AS feature_name,
        avg(endpoint_delta) AS endpoint_delta,
        avg(endpoint_magnitude) AS endpoint_magnitude,
        avg(evidence) AS evidence,
        avg(contradiction) AS contradiction,
        avg(fragility) AS fragility
    FROM core_profiles
    JOIN core_pairs AS pair USING (study, run_id, pair_id)
    JOIN core_current_runs USING (study, run_id)
    JOIN stg_features AS feature USING (study, pairs_digest, pair_id)
    GROUP BY ALL
)
SELECT
    study,
    model_id,
    path,
    image_id,
    feature, -- its number, from 1
    feature_name,
    endpoint_delta, -- drop of the score without the feature, score units
    endpoint_magnitude, -- endpoint M, an attribution from clean scores
    evidence, -- the attribution, score units
    contradiction,
    fragility,
    -- 1 is the feature with the largest E; equal features share a rank
    rank() OVER (PARTITION BY study, model_id, path, image_id ORDER BY evidence DESC) AS rank
FROM means
ORDER BY study, model_id, path, image_id, rank, feature;
