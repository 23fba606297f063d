-- purpose: Abs = E + C + F, no component is negative, E = C = 0 for inactive pairs and F = 0 for
--   active ones
-- grain: one row per profile that breaks it
-- paper: section 3; appendix C.1
WITH judged AS (
    SELECT
        *,
        abs(abs_response - evidence - contradiction - fragility)
            <= 2e-12 + 2e-10 * abs_response AS is_conserved,
        least(evidence, contradiction, fragility) >= 0 AS is_signed,
        is_endpoint_active = is_active_at(endpoint_delta, epsilon)
            AND CASE
                WHEN is_endpoint_active THEN fragility = 0
                ELSE evidence = 0 AND contradiction = 0
            END AS is_gated
    FROM core_profiles
)
SELECT
    'check_conservation' AS check_name,
    study,
    model_id,
    concat_ws('/', pair_id, path, repetition) AS key,
    format(
        'E = {}, C = {}, F = {}, Abs = {}, d = {}, active = {}', evidence, contradiction,
        fragility, abs_response, endpoint_delta, is_endpoint_active
    ) AS found,
    CASE
        WHEN is_conserved IS NOT TRUE THEN 'Abs = E + C + F'
        WHEN is_signed IS NOT TRUE THEN 'no negative component'
        ELSE format('F = 0 where |d| >= {}, E = C = 0 elsewhere', epsilon)
    END AS expected
FROM judged
WHERE (is_conserved AND is_signed AND is_gated) IS NOT TRUE;
