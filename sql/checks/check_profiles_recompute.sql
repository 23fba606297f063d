-- purpose: stored profiles equal those that SQL computes from the stored trajectories
-- grain: one row per profile that differs by more than 1e-12 (relative above 1)
-- paper: section 3; appendix C.1
WITH responses AS (
    SELECT
        study, model_id, pair_id, path, repetition, q_plus[-1] - q_minus[-1] AS d,
        response_of(q_plus, q_minus) AS response, weights_of(t) AS weights
    FROM core_trajectories
),
masses AS (
    SELECT
        * EXCLUDE (response, weights),
        rising_mass_of(response, weights) AS rising,
        falling_mass_of(response, weights) AS falling,
        sign_measure_of(response, weights, -sign(d)) AS opposed_frac
    FROM responses
),
routed AS (
    SELECT
        profile.*, d, rising, falling,
        evidence_at(d, rising, falling, epsilon) AS e,
        contradiction_at(d, rising, falling, epsilon) AS c,
        fragility_at(d, rising, falling, epsilon) AS f,
        opposed_mass_at(d, rising, falling) AS opposed,
        CASE WHEN is_active_at(d, epsilon) THEN opposed_frac END AS flips
    FROM core_profiles AS profile
    LEFT JOIN masses USING (study, model_id, pair_id, path, repetition)
)
SELECT
    'check_profiles_recompute' AS check_name,
    study,
    model_id,
    concat_ws('/', pair_id, path, repetition) AS key,
    format(
        'd, M, E, C, F, Abs, Net, opposed, flips = {}',
        [
            endpoint_delta, endpoint_magnitude, evidence, contradiction, fragility, abs_response,
            net_response, opposed_mass, sign_flip_frac
        ]::VARCHAR
    ) AS found,
    [d, abs(d), e, c, f, rising + falling, e - c, opposed, flips]::VARCHAR AS expected
FROM routed
WHERE differs(endpoint_delta, d)
    OR differs(endpoint_magnitude, abs(d))
    OR differs(evidence, e)
    OR differs(contradiction, c)
    OR differs(fragility, f)
    OR differs(abs_response, rising + falling)
    OR differs(net_response, e - c)
    OR differs(opposed_mass, opposed)
    OR differs(sign_flip_frac, flips);
