-- purpose: verdict on one number of a study, compared with a value of the paper
-- grain: scalar macro
-- It compares only numbers; it does not test whether they come from the paper's data.
--   reproduced         it lies in the paper's interval; without one, the paper's value lies in ours,
--                      or both are equal to half of the last printed digit
--   same direction     both lie, with any intervals, on the same side of neutral, which is what the
--                      statistic is without an effect
--   undecided          our interval holds the paper's value and neutral, which are apart
--   different          none of these
--   not run            there is no number
--   cannot be run here there is none, and needs says what is missing
-- neutral is NULL where a statistic has no such value, or where the paper reads its own value as no
-- effect: then nothing has a direction. digits are the
-- printed decimals; NULL, of a value that only a figure shows, is 3.
CREATE OR REPLACE MACRO verdict_of(
    estimate, lower_95, upper_95, published, published_lower, published_upper, digits, neutral, needs
) AS CASE
    WHEN estimate IS NULL THEN if(needs IS NULL, 'not run', 'cannot be run here')
    WHEN neutral BETWEEN lower_95 AND upper_95 AND published BETWEEN lower_95 AND upper_95
        AND neutral NOT BETWEEN coalesce(published_lower, published)
            AND coalesce(published_upper, published) THEN 'undecided'
    WHEN CASE
        WHEN published_lower IS NOT NULL THEN estimate BETWEEN published_lower AND published_upper
        -- A half that a sum of doubles misses by its last bit is a half.
        ELSE coalesce(published BETWEEN lower_95 AND upper_95, false)
            OR abs(estimate - published) <= 0.5 * pow(10, -coalesce(digits, 3)) * (1 + 1e-9)
    END THEN 'reproduced'
    WHEN (estimate - neutral) * (published - neutral) > 0
        AND NOT coalesce(neutral BETWEEN lower_95 AND upper_95, false)
        AND NOT coalesce(neutral BETWEEN published_lower AND published_upper, false)
        THEN 'same direction'
    ELSE 'different'
END;
