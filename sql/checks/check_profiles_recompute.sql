-- purpose: stored profiles equal those that SQL routes from the stored trajectories
-- grain: one row per profile that differs by more than 1e-12 (relative above 1)
-- paper: section 3; appendix C.1
WITH routed AS (
    SELECT
        profile.*,
        masses.endpoint_delta AS d,
        masses.rising_mass AS rising,
        masses.falling_mass AS falling,
        evidence_at(d, rising, falling, epsilon) AS e,
        contradiction_at(d, rising, falling, epsilon) AS c,
        fragility_at(d, rising, falling, epsilon) AS f,
        opposed_mass_at(d, rising, falling) AS opposed,
        CASE WHEN is_active_at(d, epsilon) THEN if(d > 0, falling_frac, rising_frac) END AS flips
    FROM core_profiles AS profile
    LEFT JOIN core_masses AS masses
        USING (study, model_id, pair_id, path, repetition)
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
