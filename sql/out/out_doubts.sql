-- purpose: what could change a finding: threshold, stages, paths, control, sample; a sentence each
-- grain: one row per study, model, pair type, path and doubt
-- paper: section 3; appendix B.8 (threshold stability); appendix C.1
CREATE OR REPLACE VIEW out_doubts AS
WITH found AS (
    SELECT
        trust.*,
        response.position, response.path_position, response.path_name, response.abs_response,
        response.is_largest_path, response.pair_type_name, response.smallest,
        arg_max(response.path_name, response.abs_response) OVER on_paths AS largest_path_name,
        max(response.abs_response) OVER on_paths AS largest_response,
        arg_max(trust.role, response.abs_response) OVER on_paths AS largest_role
    FROM out_trust AS trust
    JOIN out_responses AS response USING (study, model_id, pair_type, path)
    WINDOW on_paths AS (PARTITION BY trust.study, trust.model_id, trust.pair_type)
),
doubts AS (
    SELECT *, unnest([
        {doubt: 'threshold', applies: NOT is_firm, sentence: format(
            'Its main role depends on the threshold: {} at {:g}, {} at {:g}, {} at {:g}.',
            role_half, epsilon / 2, role, epsilon, role_double, 2 * epsilon)},
        {doubt: 'near threshold', applies: near_frac >= 0.1, sentence: format(
            '{:.0f} % of its pairs end near the threshold: |d| from {:g} to {:g}.',
            100 * near_frac, epsilon / 2, 2 * epsilon)},
        {doubt: 'stages', applies: NOT is_converged, sentence: format(
            'Every second of its {} stages alone moves a mean by up to {}; use more stages.',
            stage_count, written_score(stage_error, smallest))},
        {doubt: 'paths', applies: NOT paths_agree AND NOT is_largest_path, sentence: format(
            'The paths disagree: {} ({}) on {}, {} ({}) on {}.',
            written_score(largest_response, smallest), largest_role, largest_path_name,
            written_score(abs_response, smallest), role, path_name)},
        {doubt: 'control', applies: reacts_to_any_change, sentence: format(
            'The control change moves the score by {} on the same sources: it reacts to any change.',
            written_score(control_response, smallest))},
        {doubt: 'sample', applies: interval_use <> 'usable', sentence: format(
            if(interval_use = 'rough', 'Only {} sources: its interval is rough.',
                'Only {} sources: too few for an interval.'), source_count)}
    ], recursive := true)
    FROM found
)
SELECT study, model_id, pair_type, pair_type_name, path, path_name, doubt, sentence
FROM doubts
WHERE applies
ORDER BY study, position, model_id, pair_type, path_position, doubt;
