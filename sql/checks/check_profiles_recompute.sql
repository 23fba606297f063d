-- purpose: stored profiles equal those that SQL computes from the stored trajectories
-- grain: one row per profile whose d differs, or another number by over 1e-12 of max(1, number)
-- paper: section 3; appendix C.1
-- check_pairs_and_paths_known finds rows of unknown pairs, and stages other than those of the path.
WITH units AS (SELECT study, model_id, unit_key FROM core_run_units),
grids AS (SELECT study, path, weights_of(t) AS weights FROM core_paths),
trajectories AS (FROM stg_trajectories SEMI JOIN units USING (study, model_id, unit_key)),
profiles AS (FROM stg_profiles SEMI JOIN units USING (study, model_id, unit_key)),
responses AS (
    SELECT
        profile.*, q_plus[-1] - q_minus[-1] AS d,
        response_of(q_plus, q_minus) AS response, weights
    FROM profiles AS profile
    LEFT JOIN trajectories USING (study, model_id, pair_id, path, repetition)
    LEFT JOIN grids USING (study, path)
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
        *,
        evidence_at(d, rising, falling, epsilon) AS e,
        contradiction_at(d, rising, falling, epsilon) AS c,
        fragility_at(d, rising, falling, epsilon) AS f,
        opposed_mass_at(d, rising, falling) AS opposed,
        CASE WHEN is_active_at(d, epsilon) THEN opposed_frac END AS flips
    FROM masses
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
WHERE endpoint_delta IS DISTINCT FROM d
    OR differs(endpoint_magnitude, abs(d))
    OR differs(evidence, e)
    OR differs(contradiction, c)
    OR differs(fragility, f)
    OR differs(abs_response, rising + falling)
    OR differs(net_response, e - c)
    OR differs(opposed_mass, opposed)
    OR differs(sign_flip_frac, flips);
