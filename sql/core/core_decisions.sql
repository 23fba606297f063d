-- purpose: verdict on the limits that `expect:` sets for the responses of a model
-- grain: one row per study and model of studies with limits
-- A response that should not matter needs a limit of its own, or has to stay below the smallest one
-- that counts: without either, no model is safe.
CREATE OR REPLACE VIEW core_decisions AS
WITH unscored AS (
    SELECT DISTINCT study, model_id
    FROM core_blocks
    WHERE NOT (is_scored AND is_routed)
),
unlimited AS (
    SELECT study, model_id, list(format(
        '{}, which should not matter and moves the score by {}',
        pair_type_name, written_score(abs_response)
    ) ORDER BY pair_type) AS names
    FROM out_responses
    WHERE is_largest_path AND expect = 'should_not_matter' AND safe_limit IS NULL
        AND lower_95 >= smallest
    GROUP BY study, model_id
)
SELECT
    study,
    model_id,
    CASE -- not safe where one limit fails, safe where all hold on all planned pairs
        WHEN bool_or(verdict = 'failed') THEN 'not safe'
        WHEN bool_or(verdict = 'undecided') OR any_value(unscored.model_id) IS NOT NULL
            OR any_value(unlimited.names) IS NOT NULL THEN 'undecided'
        ELSE 'safe'
    END AS decision,
    -- Words for limits that fail, and for responses without a limit that should not matter.
    nullif(concat('. Beyond a limit: ' || array_to_string(list(format(
        '{}, {} by {} (at {} {})',
        pair_type_name,
        if(metric = 'abs_response', 'which moves the score', 'whose clean scores differ'),
        written_score(response),
        if(expect = 'should_matter', 'least', 'most'),
        written_limit(response_limit)
    ) ORDER BY pair_type) FILTER (verdict = 'failed'), '; '),
    '. Without a limit: ' || array_to_string(any_value(unlimited.names), '; ')), '') AS reasons
FROM out_limits
LEFT JOIN unscored USING (study, model_id)
LEFT JOIN unlimited USING (study, model_id)
GROUP BY study, model_id;
