-- purpose: verdict on the limits that `expect:` sets for the responses of a model
-- grain: one row per study and model of studies with limits
-- A model is safe only if each response that should not matter has a limit, or may be below the
-- smallest response that counts, and no warning says that it may get wrong inputs, that q may be the
-- score of another class, or that limits that hold decide nothing (core_limit_warnings). If its
-- answers are no better than a guess, or its scores do not vary, it also fails no limit of a change
-- that should matter.
CREATE OR REPLACE VIEW core_decisions AS
WITH unscored AS (
    SELECT DISTINCT study, model_id FROM core_blocks WHERE NOT (is_scored AND is_routed)
),
faulty AS (
    SELECT study, model_id, string_agg(split_part(detail, '. Likely', 1), '; '
        ORDER BY warning, detail) AS faults,
        bool_or(warning IN ('below_chance', 'constant_score')) AS is_faulty
    FROM (FROM core_chance_warnings UNION ALL FROM core_constant_warnings
        UNION ALL FROM core_limit_warnings)
    GROUP BY study, model_id
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
        WHEN bool_or(verdict = 'failed' AND expect = 'should_not_matter') THEN 'not safe'
        WHEN any_value(is_faulty) THEN 'undecided'
        WHEN bool_or(verdict = 'failed') THEN 'not safe'
        WHEN bool_or(verdict = 'undecided') OR any_value(unscored.model_id) IS NOT NULL
            OR any_value(unlimited.names) IS NOT NULL OR any_value(faults) IS NOT NULL
            THEN 'undecided'
        ELSE 'safe'
    END AS decision,
    -- Sentences on limits that fail or are undecided, responses that should not matter but have no
    -- limit, groups, and faults.
    nullif(concat('. Beyond a limit: '
        || array_to_string(list(words ORDER BY pair_type) FILTER (verdict = 'failed'), '; '),
    '. Too uncertain for a limit, so use more sources: ' || array_to_string(list(words ORDER BY pair_type)
        FILTER (verdict = 'undecided' AND unscored.model_id IS NULL), '; '),
    '. Without a limit: ' || array_to_string(any_value(unlimited.names), '; '),
    '. Groups: ' || any_value(details),
    '. Its scores or pairs may not show what it uses: ' || any_value(faults)), '') AS reasons
FROM (SELECT *, describe_limit(pair_type_name, expect, metric, response, response_limit,
    if(verdict = 'undecided', lower_95, NULL), upper_95) AS words FROM out_limits)
LEFT JOIN unscored USING (study, model_id)
LEFT JOIN unlimited USING (study, model_id)
LEFT JOIN (SELECT study, model_id, string_agg(detail, '; ' ORDER BY detail) AS details
    FROM core_group_warnings WHERE NOT is_gated GROUP BY ALL) USING (study, model_id)
LEFT JOIN faulty USING (study, model_id)
GROUP BY study, model_id;
