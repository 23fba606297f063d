-- purpose: profiles with any weights of the stored stages instead of the trapezoid rule
-- grain: one row per row of rel
-- paper: section 3, equation 1; appendices B.7 and C.1
-- rel names a relation with columns t, q_plus and q_minus, as core_trajectories has them, which the
-- profile replaces; other columns stay. measure has one weight per stage, none below 0, with sum 1
-- (within 1e-12).
-- If a path runs at another pace, t = h(u), its profiles are those with weights_of(h(u)).
-- FROM profiles_under_measure('core_trajectories', [0.25, 0.5, 0.25], 0.02)
CREATE OR REPLACE MACRO profiles_under_measure(rel, measure, eps) AS TABLE
WITH given_measure AS (SELECT measure::DOUBLE[] AS asked),
asked AS (
    SELECT
        *,
        len(list_filter(asked, lambda weight: isfinite(weight) AND weight >= 0)) = len(asked)
            AND abs(list_sum(asked) - 1) <= 1e-12 AS is_measure
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
                    || coalesce(asked::VARCHAR, 'NULL')
                    || '; expected none below 0, with sum 1: divide them by their sum')
            WHEN len(asked) <> len(q_plus)
                THEN error(format('profiles_under_measure: {} weights for {} stages; expected one '
                    || 'for each', len(asked), len(q_plus)))
            ELSE asked
        END AS weights
    FROM query_table(rel) AS given
    CROSS JOIN asked
)
FROM profiles_of('responses', eps);
