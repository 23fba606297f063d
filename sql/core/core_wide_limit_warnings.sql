-- purpose: warnings about limits of `expect:` that hold, but that the scores could hardly break
-- grain: one row per study, model, pair type and warning
-- The limit is not below the range of the clean scores, which hardly any response can exceed; for
-- probabilities, only if it would not hold for scores from 0 to 1. Or the decision changes in a
-- larger share of the pairs than the limit allows probabilities to change.
CREATE OR REPLACE VIEW core_wide_limit_warnings AS
WITH held AS (
    SELECT out_limits.*,
        (score ->> '$.kind') IN ('class_probability', 'superclass_probability') AS is_probability
    FROM out_limits
    JOIN core_current_runs USING (study)
    JOIN stg_runs USING (study, run_id)
    WHERE verdict = 'passed' AND expect = 'should_not_matter'
)
SELECT study, model_id, 'wide_limit' AS warning, NULL::BIGINT AS affected_count,
    format('the limit {} of {} is not below {}, the range of all clean scores: lower the limit',
        format_limit(response_limit), pair_type_name, format_score(score_range)) AS detail
FROM held
JOIN core_score_ranges USING (study, model_id)
WHERE response_limit >= score_range
    AND (NOT is_probability OR upper_95 > response_limit * score_range)
UNION ALL
SELECT study, model_id, 'changed_decisions', NULL,
    format('the decision for or against the scored class changes in {:,} of {:,} pairs of {}, a '
        || 'larger share than the limit {} of its probability', changed_count, pair_count, pair_type_name,
        format_limit(response_limit))
FROM held
JOIN core_decision_changes USING (study, model_id, pair_type)
WHERE changed_count > response_limit * pair_count;
