-- purpose: every stored score and every component is a finite number
-- grain: one row per trajectory, profile, prediction or measurement with another number
-- A sum is finite only if all its terms are, so most rows need no test of single numbers.
WITH units AS (SELECT study, model_id, unit_key FROM core_run_units),
suspects AS (
    SELECT
        study,
        model_id,
        concat_ws('/', 'trajectory', pair_id, path, repetition) AS key,
        t || q_plus || q_minus AS numbers
    FROM stg_trajectories SEMI JOIN units USING (study, model_id, unit_key)
    WHERE (
        isfinite(list_sum(t) + list_sum(q_plus) + list_sum(q_minus))
        AND list_count(t) + list_count(q_plus) + list_count(q_minus)
            = len(t) + len(q_plus) + len(q_minus)
    ) IS NOT TRUE
    UNION ALL
    SELECT
        study,
        model_id,
        concat_ws('/', 'profile', pair_id, path, repetition),
        [
            epsilon, endpoint_delta, endpoint_magnitude, evidence, contradiction, fragility,
            abs_response, net_response, opposed_mass, coalesce(sign_flip_frac, 0)
        ]
    FROM stg_profiles SEMI JOIN units USING (study, model_id, unit_key)
    WHERE isfinite(
        epsilon + endpoint_delta + endpoint_magnitude + evidence + contradiction + fragility
        + abs_response + net_response + opposed_mass + coalesce(sign_flip_frac, 0)
    ) IS NOT TRUE
    UNION ALL
    SELECT study, model_id, concat_ws('/', 'prediction', image_id), class_scores
    FROM stg_predictions SEMI JOIN units USING (study, model_id, unit_key)
    WHERE (isfinite(list_sum(class_scores)) AND list_count(class_scores) = len(class_scores))
        IS NOT TRUE
    UNION ALL
    SELECT study, model_id, concat_ws('/', 'corruption', image_id, corruption), class_scores
    FROM stg_corruptions SEMI JOIN core_measurements USING (study, model_id, unit_key)
    UNION ALL
    SELECT study, model_id, concat_ws('/', 'attribution', pair_id, method), [region_score]
    FROM core_attributions
)
SELECT
    'check_finite' AS check_name, study, model_id, key,
    strays::VARCHAR AS found,
    'finite numbers' AS expected
FROM (
    SELECT *, list_filter(numbers, lambda x: coalesce(NOT isfinite(x), true)) AS strays
    FROM suspects
)
WHERE len(strays) > 0;
