-- purpose: mean components at half, one and two times the threshold, and whether the role changes
-- grain: one row per study, model, pair type and path
-- paper: appendix B.8 (threshold stability); appendix G
-- A pair is near the threshold if epsilon / 2 <= |d| < 2 epsilon. is_firm is true if group_role is
-- equal at all three thresholds. Abs does not depend on the threshold.
CREATE OR REPLACE VIEW out_thresholds AS
WITH profiles AS (
    SELECT
        study, model_id, pair_type, path, epsilon, weight, abs_response,
        abs_response - opposed_mass AS agreeing_mass,
        opposed_mass,
        is_active_at(endpoint_delta, epsilon / 2) AS is_active_half,
        is_active_at(endpoint_delta, epsilon) AS is_active,
        is_active_at(endpoint_delta, 2 * epsilon) AS is_active_double
    FROM core_profiles
),
means AS (
    SELECT
        study, model_id, pair_type, path,
        any_value(epsilon) AS epsilon,
        count(*) AS trajectory_count,
        weighted_mean((is_active_half AND NOT is_active_double)::INTEGER, weight) AS near_frac,
        weighted_mean(if(is_active_half, agreeing_mass, 0), weight) AS evidence_half,
        weighted_mean(if(is_active_half, opposed_mass, 0), weight) AS contradiction_half,
        weighted_mean(if(is_active_half, 0, abs_response), weight) AS fragility_half,
        weighted_mean(if(is_active, agreeing_mass, 0), weight) AS evidence,
        weighted_mean(if(is_active, opposed_mass, 0), weight) AS contradiction,
        weighted_mean(if(is_active, 0, abs_response), weight) AS fragility,
        weighted_mean(if(is_active_double, agreeing_mass, 0), weight) AS evidence_double,
        weighted_mean(if(is_active_double, opposed_mass, 0), weight) AS contradiction_double,
        weighted_mean(if(is_active_double, 0, abs_response), weight) AS fragility_double,
        weighted_mean(abs_response, weight) AS abs_response
    FROM profiles
    GROUP BY study, model_id, pair_type, path
)
SELECT
    means.*, -- score units, except trajectory_count and near_frac
    group_role(evidence_half, contradiction_half, fragility_half, smallest) AS role_half,
    group_role(evidence, contradiction, fragility, smallest) AS role,
    group_role(evidence_double, contradiction_double, fragility_double, smallest) AS role_double,
    role_half = role AND role = role_double AS is_firm
FROM means
JOIN (
    SELECT study, smallest_response(run.score, run.epsilon) AS smallest
    FROM core_current_runs AS current
    JOIN stg_runs AS run USING (study, run_id)
) USING (study)
ORDER BY study, model_id, pair_type, path;
