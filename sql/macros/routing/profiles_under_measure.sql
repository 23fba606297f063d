-- purpose: profiles with any weights of the stored stages instead of the trapezoid rule
-- grain: one row per row of rel
-- paper: section 3, equation 1; appendices B.7 and C.1
-- rel names a relation with columns t, q_plus and q_minus, as core_trajectories has them. The profile
-- replaces them; other columns stay. measure has one weight per stage, none below 0, with sum 1
-- (within 1e-12).
-- A path that shows the states of the stored stages u at its stages h(u) has the profiles under
-- weights_of(h(u)).
-- FROM profiles_under_measure('core_trajectories', [0.25, 0.5, 0.25], 0.02)
CREATE OR REPLACE MACRO profiles_under_measure(rel, measure, eps) AS TABLE
WITH given_measure AS (SELECT measure::DOUBLE[] AS stage_weights),
checked_measure AS (
    SELECT
        *,
        len(list_filter(stage_weights, lambda weight: isfinite(weight) AND weight >= 0))
            = len(stage_weights)
            AND abs(list_sum(stage_weights) - 1) <= 1e-12 AS is_measure
    FROM given_measure
),
responses AS (
    SELECT
        given.* EXCLUDE (t, q_plus, q_minus),
        q_plus[-1] - q_minus[-1] AS endpoint_delta,
        response_of(q_plus, q_minus) AS response,
        CASE
            WHEN is_measure IS NOT TRUE
                THEN error('profiles_under_measure: weights are '
                    || coalesce(stage_weights::VARCHAR, 'NULL')
                    || '; expected none below 0, with sum 1: divide them by their sum')
            WHEN len(stage_weights) <> len(q_plus)
                THEN error(format('profiles_under_measure: {} weights for {} stages; expected one '
                    || 'for each', len(stage_weights), len(q_plus)))
            ELSE stage_weights
        END AS weights
    FROM query_table(rel) AS given
    CROSS JOIN checked_measure
)
FROM profiles_of('responses', eps);
