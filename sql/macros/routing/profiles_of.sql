-- purpose: profiles of responses under any stage weights and threshold
-- grain: one row per row of rel
-- paper: section 3, equation 1; appendix C.1
-- rel names a relation with columns endpoint_delta, response and weights (lists of one length);
-- other columns stay.
-- FROM profiles_of('my_responses', 0.02)
CREATE OR REPLACE MACRO profiles_of(rel, eps) AS TABLE
WITH masses AS (
    SELECT
        * EXCLUDE (endpoint_delta, response, weights),
        valid_epsilon(eps) AS epsilon,
        endpoint_delta,
        rising_mass_of(response, weights) AS rising,
        falling_mass_of(response, weights) AS falling,
        sign_measure_of(response, weights, -sign(endpoint_delta)) AS opposed_frac
    FROM query_table(rel)
)
SELECT
    * EXCLUDE (rising, falling, opposed_frac), -- score units, as all that follow
    abs(endpoint_delta) AS endpoint_magnitude,
    evidence_at(endpoint_delta, rising, falling, epsilon)::DOUBLE AS evidence,
    contradiction_at(endpoint_delta, rising, falling, epsilon)::DOUBLE AS contradiction,
    fragility_at(endpoint_delta, rising, falling, epsilon)::DOUBLE AS fragility,
    rising + falling AS abs_response,
    evidence - contradiction AS net_response,
    -- Share of the stage measure; NULL for inactive pairs.
    CASE WHEN is_active_at(endpoint_delta, epsilon) THEN opposed_frac END AS sign_flip_frac,
    opposed_mass_at(endpoint_delta, rising, falling)::DOUBLE AS opposed_mass,
    is_active_at(endpoint_delta, epsilon) AS is_endpoint_active
FROM masses;
