-- purpose: warnings because of which limits of `expect:` that hold are undecided
-- grain: one row per study, model and warning
-- A change with a limit cannot show how the model uses its columns, more than a twentieth of its
-- pairs have no profile on some path, the scores may be labels or passed a second softmax, or the
-- limit is not below the range of the clean scores, which hardly any response can exceed; for
-- probabilities, only if it would not hold for scores from 0 to 1.
CREATE OR REPLACE VIEW core_limit_warnings AS
WITH limited AS (
    SELECT DISTINCT study, model_id, pair_type, pair_type_name FROM out_limits
),
withheld AS (
    SELECT DISTINCT study, model_id, pair_id, pair_type
    FROM stg_quarantine
    SEMI JOIN core_run_units USING (study, model_id, unit_key)
    JOIN (SELECT study, pair_id, pair_type FROM core_pairs) USING (study, pair_id)
),
counted AS (
    SELECT study, model_id, pair_type, count(DISTINCT pair_id) AS pair_count,
        count(DISTINCT pair_id) FILTER (is_withheld) AS withheld_count
    FROM (
        SELECT *, true AS is_withheld FROM withheld
        UNION ALL
        SELECT study, model_id, pair_id, pair_type, false
        FROM core_profiles SEMI JOIN withheld USING (study, model_id, pair_type)
    )
    GROUP BY study, model_id, pair_type
)
SELECT DISTINCT study, model_id, 'model_remark' AS warning, NULL::BIGINT AS affected_count,
    remark AS detail
FROM core_model_remarks JOIN limited USING (study, model_id)
WHERE starts_with(remark, format('pair type ''{}'' changes ', pair_type)) -- ArrayModel
    OR starts_with(remark, 'its outputs look like probabilities and count as logits')
    OR starts_with(remark, 'its method ''predict'' returns labels') -- of a classifier
UNION ALL
FROM core_label_warnings
UNION ALL
SELECT study, model_id, 'withheld_pairs', NULL,
    format('{:,} of {:,} pairs of {} have scores that are not finite on some path, so means there exclude them',
        withheld_count, pair_count, pair_type_name)
FROM counted
JOIN limited USING (study, model_id, pair_type)
WHERE 20 * withheld_count > pair_count
UNION ALL
SELECT study, model_id, 'wide_limit', NULL,
    format('the limit {} of {} is not below {}, the range of all clean scores: lower the limit',
        format_limit(response_limit), pair_type_name, format_score(score_range))
FROM out_limits
JOIN core_score_ranges USING (study, model_id)
JOIN core_current_runs USING (study)
JOIN stg_runs USING (study, run_id)
WHERE verdict = 'passed' AND expect = 'should_not_matter' AND response_limit >= score_range
    AND ((score ->> '$.kind') NOT IN ('class_probability', 'superclass_probability')
        OR upper_95 > response_limit * score_range);
