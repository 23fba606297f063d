-- purpose: verdict on the limits that `expect:` sets for the responses of a model
-- grain: one row per study and model of studies with limits
CREATE OR REPLACE VIEW core_decisions AS
WITH unscored AS (
    SELECT DISTINCT study, model_id
    FROM core_blocks
    WHERE NOT (is_scored AND is_routed)
)
SELECT
    study,
    model_id,
    CASE -- not safe where one limit fails, safe where all hold on all planned pairs
        WHEN bool_or(verdict = 'failed') THEN 'not safe'
        WHEN bool_or(verdict = 'undecided') OR any_value(unscored.model_id) IS NOT NULL THEN 'undecided'
        ELSE 'safe'
    END AS decision,
    -- Words for each limit that fails; NULL without any.
    list(format(
        '{}, {} by {} (at {} {})',
        pair_type_name,
        if(metric = 'abs_response', 'which moves the score', 'whose clean scores differ'),
        written_score(response),
        if(expect = 'should_matter', 'least', 'most'),
        written_limit(response_limit)
    ) ORDER BY pair_type) FILTER (verdict = 'failed') AS breaches
FROM out_limits
LEFT JOIN unscored USING (study, model_id)
GROUP BY study, model_id;
