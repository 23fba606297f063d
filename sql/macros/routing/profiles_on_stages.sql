-- purpose: profiles on some of the stored stages, by the trapezoid rule between them
-- grain: one row per row of rel
-- paper: section 3, equation 1; appendix C.1
-- rel names a relation with columns t, q_plus and q_minus, as core_trajectories has them; other
-- columns stay. stages go from 0 to 1, and each is a stored stage of every row (within 1e-12).
-- FROM profiles_on_stages('core_trajectories', [0, 0.5, 1], 0.02)
CREATE OR REPLACE MACRO profiles_on_stages(rel, stages, eps) AS TABLE
WITH given_stages AS (SELECT stages::DOUBLE[] AS asked),
asked AS (
    SELECT
        *,
        len(asked) >= 2 AND abs(asked[1]) <= 1e-12 AND abs(asked[-1] - 1) <= 1e-12
            AND list_bool_and(
                list_transform(asked[2:], lambda here, place: here > asked[place])
            ) AS is_grid
    FROM given_stages
),
placed AS (
    SELECT
        given.*,
        asked,
        is_grid,
        list_transform(asked, lambda stage: list_position(
            list_transform(t, lambda here: abs(here - stage) <= 1e-12), true
        )) AS places
    FROM query_table(rel) AS given
    CROSS JOIN asked
),
kept AS (
    SELECT
        * EXCLUDE (asked, is_grid, places),
        CASE
            WHEN is_grid IS NOT TRUE
                THEN error('profiles_on_stages: stages are ' || coalesce(asked::VARCHAR, 'NULL')
                    || '; expected at least two, increasing from 0 to 1')
            WHEN list_contains(list_transform(places, lambda place: place IS NULL), true)
                THEN error('profiles_on_stages: stages are ' || asked::VARCHAR
                    || '; expected some of the stored ones, ' || t::VARCHAR)
            ELSE places
        END AS places
    FROM placed
),
responses AS (
    SELECT
        * EXCLUDE (t, q_plus, q_minus, places),
        q_plus[-1] - q_minus[-1] AS endpoint_delta,
        list_select(response_of(q_plus, q_minus), places) AS response,
        weights_of(list_select(t, places)) AS weights
    FROM kept
)
FROM profiles_of('responses', eps);
