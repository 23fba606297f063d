-- purpose: effects of changing each feature of an image; attributions are compared with them
-- grain: one row per study, model, image, feature and operator of a protocol
-- paper: section 7; appendix H (protocol and strict common support)
-- The effect is q of the image minus q of the image without the feature, in the study's score: d of
-- the revealed pair for deletion, and of the clean inputs for other operators.
CREATE OR REPLACE VIEW core_attribution_targets AS
WITH scores AS MATERIALIZED (
    SELECT
        study, run_id, model_id, image_id,
        -- Lists count from 1; a score without classes has one value.
        class_scores[
            if(predicted_class IS NULL, 0, coalesce((score ->> '$.target')::BIGINT, class_id)) + 1
        ] * if(score ->> '$.direction' = 'decreasing', -1, 1) AS q
    FROM core_predictions
    JOIN stg_runs USING (study, run_id)
    SEMI JOIN (FROM core_attribution_pairs WHERE operator <> 'deletion') USING (study)
)
SELECT
    study, model_id, protocol, operator, image_id, feature,
    avg(endpoint_delta) AS effect -- score units
FROM core_attribution_pairs
JOIN core_profiles USING (study, run_id, pair_id, path)
WHERE protocol = 'deletion'
GROUP BY ALL
UNION ALL
SELECT
    study, plus.model_id, protocol, operator, plus.image_id, feature, plus.q - minus.q
FROM core_attribution_pairs AS pair
JOIN scores AS plus USING (study, run_id, image_id)
JOIN scores AS minus USING (study, run_id, model_id)
WHERE operator <> 'deletion' AND minus.image_id = pair.minus_image;
