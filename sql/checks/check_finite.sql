-- purpose: every stored score and every component is a finite number
-- grain: one row per trajectory, profile or prediction that holds another
-- inputs: core_trajectories, core_profiles, core_predictions
-- paper: none
WITH counted AS (
    SELECT
        study,
        model_id,
        concat_ws('/', 'trajectory', pair_id, path, repetition) AS key,
        t || q_plus || q_minus AS numbers
    FROM core_trajectories
    UNION ALL
    SELECT
        study,
        model_id,
        concat_ws('/', 'profile', pair_id, path, repetition),
        [
            epsilon, endpoint_delta, endpoint_magnitude, evidence, contradiction, fragility,
            abs_response, net_response, opposed_mass, coalesce(sign_flip_frac, 0)
        ]
    FROM core_profiles
    UNION ALL
    SELECT study, model_id, concat_ws('/', 'prediction', image_id), class_scores
    FROM core_predictions
),
strays AS (
    SELECT
        study,
        model_id,
        key,
        list_filter(numbers, lambda x: coalesce(NOT isfinite(x), true)) AS found
    FROM counted
)
SELECT
    'check_finite' AS check_name,
    study,
    model_id,
    key,
    found::VARCHAR AS found,
    'finite numbers' AS expected
FROM strays
WHERE len(found) > 0;
