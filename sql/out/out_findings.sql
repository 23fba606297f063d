-- purpose: main finding of each model in one sentence, the worst first
-- grain: one row per study and model
-- Of a model's responses (out_responses) on the paths with the largest Abs, the finding is one that
-- breaks a limit, else the one with the worst rule of finding_rules.csv. Controls have no finding.
CREATE OR REPLACE VIEW out_findings AS
WITH rules AS (SELECT severity::INTEGER AS severity, rule, begins, ends FROM csv('out/finding_rules.csv')),
found AS (
    SELECT *, list(format_response(pair_type_name, abs_response, endpoint_magnitude))
            FILTER (is_largest_path AND expect <> 'control') OVER on_model AS on_types,
        list({name: pair_type_name, response: abs_response, responds: rule <> 'no_response'})
            FILTER (is_largest_path AND expect = 'control') OVER on_model AS controls,
        list(format('; {}: {}', path_name, format_score(abs_response)))
            OVER (PARTITION BY study, model_id, pair_type ORDER BY path_position
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS on_paths
    FROM out_responses JOIN rules USING (rule)
    LEFT JOIN (SELECT DISTINCT study, model_id, pair_type, true AS is_broken FROM out_limits
        WHERE verdict = 'failed') USING (study, model_id, pair_type)
    WINDOW on_model AS (PARTITION BY study, model_id ORDER BY expect = 'unknown', abs_response DESC, pair_type
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    QUALIFY expect <> 'control' AND row_number() OVER (PARTITION BY study, model_id
        ORDER BY expect = 'control', is_largest_path DESC, is_broken IS NULL, severity, abs_response DESC,
            pair_type, path_position) = 1
),
worded AS (
    SELECT found.*, is_firm, -- the main role is the same at half, once and twice epsilon
        coalesce(name_roles(role_half, role, role_double, epsilon), '') AS roles,
        if(roles <> '' AND rule IN ('contradicts', 'unstable'), ' at ε = ' || format_limit(epsilon), '') AS at_epsilon,
        list_filter(on_types, lambda words: NOT starts_with(words, pair_type_name || ' by ')) AS others,
        list_filter(on_paths, lambda words: NOT starts_with(words, '; ' || path_name || ':')) AS ways
    FROM found LEFT JOIN out_thresholds USING (study, model_id, pair_type, path)
)
SELECT
    model.study, model.model_id, model.position,
    if(failed.reason IS NULL, coalesce(severity, 8), 8) AS severity, -- 1 is the worst
    if(failed.reason IS NULL, coalesce(found.rule, 'no_results'), 'failed') AS rule, -- failed even with results
    kept.decision, -- from out_limits: safe, not safe or undecided; NULL without limits
    found.* EXCLUDE (study, model_id, position, rule, severity, begins, ends, path_position,
        is_largest_path, is_broken, on_paths, on_types, controls, others, ways, roles, at_epsilon),
    right_on.accuracy, right_on.image_count, -- on factual inputs; NULL without labels
    CASE WHEN found.rule IS NULL
            THEN coalesce('Failed: ' || failed.reason || '.', 'Nothing of it has been scored yet.')
        ELSE coalesce('Failed: ' || failed.reason || '. So far: ', '')
        || begin_finding(found.rule, format(begins, format_limit(smallest), except_controls(controls))
            || pair_type_name || at_epsilon || ends, pair_type_name, decision, is_broken)
        || ' the score by ' || format_score(abs_response) || if(len(ways) > 0, ' on path ' || path_name, '')
        || format_interval(lower_95, upper_95, array_to_string(ways, ''))
        || coalesce(', ' || format_shares(evidence_frac, contradiction_frac, fragility_frac), '') || roles
        || '; the final scores differ by ' || format_score(endpoint_magnitude) || ' (M)'
        || list_changes(others)
        || if(found.rule = 'no_response', '', compare_controls(controls,
            CASE WHEN greatest(abs_response, endpoint_magnitude) > safe_limit THEN safe_limit END))
        || coalesce(format('. Right on {} of {:,} factual inputs', format_percent(accuracy), image_count), '')
        || coalesce(kept.reasons, '') || '.'
    END AS sentence
FROM out_models AS model
LEFT JOIN core_model_failures AS failed USING (study, model_id)
LEFT JOIN worded AS found USING (study, model_id)
LEFT JOIN core_decisions AS kept USING (study, model_id)
LEFT JOIN core_factual_accuracy AS right_on USING (study, model_id)
ORDER BY model.study, decision IS DISTINCT FROM 'not safe', severity, abs_response DESC, model.position;
