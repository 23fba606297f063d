-- purpose: sentences on what could change a finding: threshold, stages, paths, control, sample
-- grain: one row per study, model, pair type, path and doubt
-- paper: section 3; appendix B.8 (threshold stability); appendix C.1
-- If a path repeats the endpoint difference, more stages only move E towards M, so there is no
-- doubt about stages. Paths that agree with the largest response agree with each other, so each path
-- is compared with the largest.
CREATE OR REPLACE VIEW out_doubts AS
WITH found AS (
    SELECT
        trust.*, control.display_name AS control_name,
        response.position, response.path_position, response.path_name, response.abs_response,
        response.is_largest_path, response.pair_type_name, response.safe_limit,
        greatest(response.abs_response, endpoint_magnitude) > response.safe_limit AS is_beyond_limit,
        arg_max(response.path_name, response.abs_response) OVER on_paths AS largest_path_name,
        max(response.abs_response) OVER on_paths AS largest_response,
        arg_max(trust.role, response.abs_response) OVER on_paths AS largest_role
    FROM out_trust AS trust
    JOIN out_responses AS response USING (study, model_id, pair_type, path)
    LEFT JOIN core_display_names AS control
        ON (control.study, kind, name) = (trust.study, 'pair_type', trust.control)
    WINDOW on_paths AS (PARTITION BY trust.study, trust.model_id, trust.pair_type)
),
doubts AS (
    SELECT *, unnest([
        {doubt: 'threshold', applies: NOT is_firm, sentence: format(
            'Its main role depends on the threshold: {} at {}, {} at {}, {} at {}.',
            role_half, format_limit(epsilon / 2), role, format_limit(epsilon), role_double,
            format_limit(2 * epsilon))},
        {doubt: 'near threshold', applies: near_frac >= 0.1, sentence: format(
            '{} of its pairs have |d| near the threshold, from {} to {}.',
            format_percent(near_frac), format_limit(epsilon / 2), format_limit(2 * epsilon))},
        {doubt: 'stages', applies: NOT is_converged AND repeats_effect IS NOT TRUE, sentence: format(
            'Leaving out every second of its {} stages changes means by at most {} (95 % intervals); '
            'use more stages.',
            stage_count, format_score(stage_error))},
        {doubt: 'paths', applies: NOT paths_agree AND NOT is_largest_path
            AND (role <> largest_role OR 2 * abs_response < largest_response), sentence: format(
            'The paths disagree about {}: {} ({}) on {}, {} ({}) on {}.',
            pair_type_name, format_score(largest_response), largest_role, largest_path_name,
            format_score(abs_response), role, path_name)},
        {doubt: 'control', applies: reacts_to_any_change, sentence: format(
            'The response to {} is not surely larger than to the control {}, which moves the score by '
            '{} on the same sources: the model may react to any change, or the control may matter.',
            pair_type_name, control_name, format_score(control_response))},
        {doubt: 'limit of control', applies: is_beyond_limit AND control_response > safe_limit,
        sentence: format(
            'The control {}, too, is beyond the limit of {}, {}: it moves the score by {} on the '
            'same sources.',
            control_name, pair_type_name, format_limit(safe_limit), format_score(control_response))},
        {doubt: 'sample', applies: interval_use <> 'usable', sentence: format(
            if(interval_use = 'rough', 'Only {} sources: its interval is rough.',
                'Only {} source{}: do not rely on its interval.'),
            source_count, if(source_count = 1, '', 's'))}
    ], recursive := true)
    FROM found
)
SELECT study, model_id, pair_type, pair_type_name, path, path_name, doubt, sentence
FROM doubts
WHERE applies
ORDER BY study, position, model_id, pair_type, path_position, doubt;
