-- purpose: fragility of every model to the floor, and label changes by the floor along the path
-- grain: one row per study, model and statistic
-- paper: section 5, figure 2c (endpoint-null sensitivity); appendix D (randomized-floor stability)
-- passes_gates is false for a model with a clean accuracy below 0.99, or with more than 5 % of
-- floor pairs active.
CREATE OR REPLACE VIEW paper_fragility_models AS
WITH estimates AS (
    SELECT * EXCLUDE (reason), variant AS unit, family AS method, 'seed ' || seed AS part,
        CASE WHEN estimate IS NULL THEN CASE statistic
            WHEN 'balanced_clean_accuracy' THEN 'its training tells no accuracy'
            WHEN 'fragility' THEN 'not scored yet'
            WHEN 'floor_stability' THEN 'not scored yet'
            WHEN 'active_frac' THEN 'not scored yet' ELSE reason END END AS reason
    FROM (
        FROM core_scene_fragility LEFT JOIN core_scene_stability USING (study, model_id)
        SELECT * RENAME (validation_accuracy AS balanced_clean_accuracy)
    )
    UNPIVOT INCLUDE NULLS (estimate FOR statistic IN (
        fragility, null_prediction_change_rate, confidence_fragility, floor_stability,
        balanced_clean_accuracy, active_frac
    ))
)
SELECT
    study,
    model_id,
    family,
    variant, -- robust, neutral or fragile
    passes_gates,
    statistic,
    estimate, -- score units, or share
    published, -- NULL if the paper has no value
    difference,
    reason
FROM with_published('estimates', 'scenes')
ORDER BY study, list_position(['robust', 'neutral', 'fragile'], variant), family, position,
    list_position(['fragility', 'null_prediction_change_rate', 'confidence_fragility'], statistic),
    statistic;
