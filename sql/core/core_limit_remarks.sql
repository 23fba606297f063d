-- purpose: reasons why limits of `expect:` that hold do not show that a model is safe
-- grain: one row per study, model and reason
-- A change cannot show how the model uses its columns (ArrayModel.remark_changes), q may be the
-- score of a second softmax (OUTPUTS_LIKE_PROBABILITIES of network_faults.py), or a limit is not
-- below the range of the clean scores, so that no use of a column could exceed it by much.
CREATE OR REPLACE VIEW core_limit_remarks AS
SELECT DISTINCT study, model_id, 'model_remark' AS warning, NULL::BIGINT AS affected_count,
    remark AS detail
FROM core_model_remarks JOIN out_limits USING (study, model_id)
WHERE starts_with(remark, format('pair type ''{}'' changes ', pair_type))
    OR starts_with(remark, 'its outputs look like probabilities and count as logits')
UNION ALL
SELECT study, model_id, 'wide_limit', NULL,
    format('the limit {} of {} is not below {}, the range of all clean scores: lower the limit',
        format_limit(response_limit), pair_type_name, format_score(score_range))
FROM out_limits JOIN core_score_ranges USING (study, model_id)
WHERE verdict = 'passed' AND expect = 'should_not_matter' AND response_limit >= score_range;
