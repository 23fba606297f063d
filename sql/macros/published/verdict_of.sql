-- purpose: verdict on one number of a study, compared with a value of the paper
-- grain: scalar macro
-- It compares only numbers; it does not test whether they come from the paper's data.
--   reproduced         our number lies in the paper's interval; if the paper has none, its value
--                      lies in our interval, or both differ by at most half of the last digit
--   same direction     both numbers and their intervals lie on one side of neutral, the value of
--                      the statistic without an effect
--   undecided          our interval holds neutral and the paper's value, and the paper's value with
--                      its interval excludes neutral
--   different          none of the verdicts above
--   not run            we have no number
--   cannot be run here we have no number, and needs names what is missing
-- neutral is NULL for a statistic without such a value, and for a value that the paper reads as no
-- effect: no direction applies. digits is the number of printed decimals; NULL counts as 3.
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
