-- purpose: effects of changing each feature of an image, by which attributions are judged
-- grain: one row per study, model, image, feature and operator that is a target
-- paper: section 7; appendix H (protocol and strict common support)
-- The effect is q of the image less q of the image without the feature, in the study's own score: d
-- of the revealed pair for deletion, and of the two clean inputs for every other operator.
CREATE OR REPLACE VIEW core_attribution_targets AS
WITH scores AS MATERIALIZED (
    SELECT
        study, run_id, model_id, image_id,
        -- Lists count from 1; a value without classes is the only one.
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
