-- purpose: stored profiles equal those that SQL routes from the stored trajectories
-- grain: one row per profile that differs by more than 1e-12 (relative above 1)
-- inputs: core_profiles, core_masses, routing
-- paper: section 3; appendix C.1
WITH routed AS (
    SELECT
        profile.*,
        [
            profile.endpoint_delta, profile.endpoint_magnitude, profile.evidence,
            profile.contradiction, profile.fragility, profile.abs_response, profile.net_response,
            profile.opposed_mass, profile.sign_flip_frac
        ] AS stored,
        masses.endpoint_delta AS d,
        masses.rising_mass AS rising,
        masses.falling_mass AS falling,
        evidence_at(d, rising, falling, epsilon) AS e,
        contradiction_at(d, rising, falling, epsilon) AS c,
        [
            d, abs(d), e, c, fragility_at(d, rising, falling, epsilon), rising + falling, e - c,
            opposed_mass_at(d, rising, falling),
            CASE
                WHEN is_active_at(d, epsilon) THEN if(d > 0, falling_frac, rising_frac)
            END
        ] AS recomputed
    FROM core_profiles AS profile
    LEFT JOIN core_masses AS masses
        USING (study, model_id, pair_id, path, repetition, shard_key)
),
compared AS (
    SELECT
        *,
        list_transform(
            stored,
            lambda here, i: here IS NOT DISTINCT FROM recomputed[i]
                OR coalesce(
                    abs(here - recomputed[i]) <= 1e-12 * greatest(1, abs(recomputed[i])), false
                )
        ) AS is_equal
    FROM routed
)
SELECT
    'check_profiles_recompute' AS check_name,
    study,
    model_id,
    concat_ws('/', pair_id, path, repetition) AS key,
    format('d, M, E, C, F, Abs, Net, opposed, flips = {}', stored::VARCHAR) AS found,
    recomputed::VARCHAR AS expected
FROM compared
WHERE NOT list_bool_and(is_equal);
