-- purpose: mean components at any thresholds, routed anew from the stored trajectories
-- grain: one row per study, model, pair type, path and epsilon
-- inputs: core_masses, routing
-- paper: appendix B.8 (threshold stability); appendix G
-- FROM epsilon_sweep([0.001, 0.1])
CREATE OR REPLACE MACRO epsilon_sweep(epsilons) AS TABLE
WITH thresholds AS (
    SELECT DISTINCT
        CASE
            WHEN isfinite(threshold) AND threshold > 0 THEN threshold
            ELSE error('epsilon_sweep: every epsilon must be a finite number above 0')
        END AS epsilon
    FROM (SELECT unnest(epsilons)::DOUBLE AS threshold)
),
routed AS (
    SELECT
        study, model_id, pair_type, path, pair_id, epsilon,
        is_active_at(endpoint_delta, epsilon) AS is_active,
        evidence_at(endpoint_delta, rising_mass, falling_mass, epsilon) AS evidence,
        contradiction_at(endpoint_delta, rising_mass, falling_mass, epsilon) AS contradiction,
        fragility_at(endpoint_delta, rising_mass, falling_mass, epsilon) AS fragility,
        rising_mass + falling_mass AS abs_response
    FROM core_masses
    CROSS JOIN thresholds
)
SELECT
    study, model_id, pair_type, path, epsilon,
    count(DISTINCT pair_id)::BIGINT AS pair_count,
    avg(is_active::INTEGER)::DOUBLE AS active_frac,
    avg(evidence)::DOUBLE AS evidence,
    avg(contradiction)::DOUBLE AS contradiction,
    avg(fragility)::DOUBLE AS fragility,
    avg(abs_response)::DOUBLE AS abs_response
FROM routed
GROUP BY study, model_id, pair_type, path, epsilon;
