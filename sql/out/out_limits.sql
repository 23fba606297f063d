-- purpose: verdict on every limit that `expect:` sets for a response
-- grain: one row per study, model and pair type with a limit
-- A response that should not matter passes where the whole 95 % interval of Abs is within the limit on
-- every path, and fails where it is beyond the limit on some path. One that should matter passes where
-- some path surely reaches the limit, and fails where none can. Anything else is undecided.
CREATE OR REPLACE VIEW out_limits AS
SELECT
    study,
    model_id,
    pair_type,
    any_value(expect) AS expect,
    coalesce(any_value(safe_limit), any_value(wanted_limit)) AS abs_limit, -- score units
    arg_max(path, abs_response) AS path, -- of the larger Abs, as are the next three
    max(abs_response) AS abs_response, -- score units, as the limits
    arg_max(lower_95, abs_response) AS lower_95, -- NULL below 5 sources
    arg_max(upper_95, abs_response) AS upper_95,
    CASE
        WHEN count(*) > count(lower_95) THEN 'undecided'
        WHEN max(safe_limit) IS NULL THEN CASE
            WHEN max(lower_95) >= max(wanted_limit) THEN 'passed'
            WHEN max(upper_95) < max(wanted_limit) THEN 'failed'
            ELSE 'undecided'
        END
        WHEN max(lower_95) > max(safe_limit) THEN 'failed'
        WHEN max(upper_95) <= max(safe_limit) THEN 'passed'
        ELSE 'undecided'
    END AS verdict -- passed, failed or undecided
FROM out_responses
WHERE safe_limit IS NOT NULL OR wanted_limit IS NOT NULL
GROUP BY study, model_id, pair_type
ORDER BY study, model_id, pair_type;
