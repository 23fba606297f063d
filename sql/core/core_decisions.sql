-- purpose: verdict on the limits that `expect:` sets for the responses of a model
-- grain: one row per study and model of studies with limits
-- A model is safe only if each response that should not matter has a limit, or stays below the
-- smallest response that counts.
CREATE OR REPLACE VIEW core_decisions AS
WITH unscored AS (
    SELECT DISTINCT study, model_id
    FROM core_blocks
    WHERE NOT (is_scored AND is_routed)
),
unlimited AS (
    SELECT study, model_id, list(format(
        '{}, which should not matter and moves the score by {}',
        pair_type_name, format_score(abs_response)
    ) ORDER BY pair_type) AS names
    FROM out_responses
    WHERE is_largest_path AND expect = 'should_not_matter' AND safe_limit IS NULL
        AND lower_95 >= smallest
    GROUP BY study, model_id
)
SELECT
    study,
    model_id,
    CASE -- not safe if one limit fails, safe if all limits hold on all planned pairs
        WHEN bool_or(verdict = 'failed') THEN 'not safe'
        WHEN bool_or(verdict = 'undecided') OR any_value(unscored.model_id) IS NOT NULL
            OR any_value(unlimited.names) IS NOT NULL THEN 'undecided'
        ELSE 'safe'
    END AS decision,
    -- Sentences on limits that fail, and on responses that should not matter but have no limit.
    nullif(concat('. Beyond a limit: ' || array_to_string(list(format(
        '{}, {} by {} (at {} {})',
        pair_type_name,
        if(metric = 'abs_response', 'which moves the score', 'whose clean scores differ'),
        format_score(response),
        if(expect = 'should_matter', 'least', 'most'),
        format_limit(response_limit)
    ) ORDER BY pair_type) FILTER (verdict = 'failed'), '; '),
    '. Without a limit: ' || array_to_string(any_value(unlimited.names), '; ')), '') AS reasons
FROM out_limits
LEFT JOIN unscored USING (study, model_id)
LEFT JOIN unlimited USING (study, model_id)
GROUP BY study, model_id;
