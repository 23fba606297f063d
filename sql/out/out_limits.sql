-- purpose: verdict on every limit that `expect:` sets for a response
-- grain: one row per study, model and pair type with a limit
-- A limit applies to the 95 % intervals of Abs and M on every path. A response that should not
-- matter passes if all of them lie within the limit, and fails if one lies beyond it. A response
-- that should matter passes if one of them lies at or above the limit, and fails if all lie below
-- it. Otherwise, the verdict is undecided.
CREATE OR REPLACE VIEW out_limits AS
WITH responses AS (
    SELECT
        study, model_id, pair_type, pair_type_name, expect, path, safe_limit, wanted_limit,
        unnest([
            {metric: 'abs_response', response: abs_response, lower_95: lower_95, upper_95: upper_95},
            {
                metric: 'endpoint_magnitude', response: endpoint_magnitude,
                lower_95: magnitude_lower_95, upper_95: magnitude_upper_95
            }
        ], recursive := true)
    FROM out_responses
    WHERE safe_limit IS NOT NULL OR wanted_limit IS NOT NULL
),
largest AS (
    SELECT
        *,
        -- Abs comes before an equal M.
        max({r: response, is_abs: metric = 'abs_response', p: path})
            OVER (PARTITION BY study, model_id, pair_type)
        = {r: response, is_abs: metric = 'abs_response', p: path} AS is_largest
    FROM responses
)
SELECT
    study,
    model_id,
    pair_type,
    any_value(pair_type_name) AS pair_type_name,
    any_value(expect) AS expect,
    coalesce(any_value(safe_limit), any_value(wanted_limit)) AS response_limit, -- score units
    any_value(metric) FILTER (is_largest) AS metric, -- of the largest response, like the next four
    any_value(path) FILTER (is_largest) AS path,
    max(response) AS response, -- score units, like its limits
    any_value(lower_95) FILTER (is_largest) AS lower_95, -- NULL below 5 sources
    any_value(upper_95) FILTER (is_largest) AS upper_95,
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
FROM largest
GROUP BY study, model_id, pair_type
ORDER BY study, model_id, pair_type;
