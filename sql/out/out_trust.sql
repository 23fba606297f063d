-- purpose: robustness of each response: threshold, stages, paths, control, sample
-- grain: one row per study, model, pair type and path
-- paper: section 3; appendix B.8 (threshold stability); appendix C.1; appendix D.8
-- Paths agree if they have one role and, unless it is no response, the smallest Abs is at least half
-- of the largest. A response is converged if the 95 % interval of the change without every second stage stays, for
-- each mean component, within half of the smallest response that counts.
CREATE OR REPLACE VIEW out_trust AS
WITH stages AS (
    SELECT
        study, model_id, pair_type, path,
        any_value(stage_count) AS stage_count,
        any_value(change) FILTER (metric = 'abs_response') AS stage_change,
        max(greatest(-lower_95, upper_95)) AS error
    FROM out_stage_errors GROUP BY ALL
),
responses AS (
    SELECT
        found.study, found.model_id, found.pair_type, found.path, found.position,
        found.path_position, found.smallest,
        thresholds.* EXCLUDE (study, model_id, pair_type, path, abs_response),
        found.source_count,
        count(*) OVER on_paths AS path_count,
        min(found.abs_response) OVER on_paths AS smallest_response,
        max(found.abs_response) OVER on_paths AS largest_response,
        min(role) OVER on_paths = max(role) OVER on_paths AS is_one_role
    FROM out_responses AS found
    JOIN out_thresholds AS thresholds USING (study, model_id, pair_type, path)
    WINDOW on_paths AS (PARTITION BY found.study, found.model_id, found.pair_type)
)
SELECT
    study, model_id, pair_type, path,
    epsilon, -- score units
    near_frac, -- share of pairs with epsilon / 2 <= |d| < 2 epsilon
    role_half, role, role_double, -- at half, once and twice the threshold
    is_firm, -- the role is the same at all three
    -- NULL, like the next three, if stages cannot be halved and the path is not refined
    coalesce(stages.stage_count, refinement.stage_count) AS stage_count,
    stage_change, -- of Abs, from every second stage to all; score units
    -- Largest 95 % limit of the change of E, C, F or Abs; NULL below 5 sources, as is_converged is.
    CASE WHEN responses.source_count >= 5 THEN stages.error END AS stage_error,
    coalesce(refinement.reason = 'exact', FALSE) OR stage_error <= smallest / 2 AS is_converged,
    refinement.reason AS stop_reason, -- why a refined path stopped; NULL for others
    repeats_effect, -- each stage shows d or no difference
    path_count,
    CASE WHEN path_count > 1 THEN is_one_role
        AND (role = 'no response' OR 2 * smallest_response >= largest_response) END AS paths_agree, -- NULL on one path
    control.control, control.control_response, -- pair type and Abs; NULL without one, like the next four
    control.difference AS control_difference, -- Abs minus that of the control, same sources
    control.lower_95 AS control_lower_95, control.upper_95 AS control_upper_95,
    CASE WHEN control.is_as_for_control THEN role <> 'no response' ELSE control.is_as_for_control
    END AS reacts_to_any_change, -- it responds, and as much to the control
    responses.source_count,
    CASE WHEN responses.source_count < 5 THEN 'none' WHEN responses.source_count < 20 THEN 'rough' ELSE 'usable' END
        AS interval_use
FROM responses
LEFT JOIN stages USING (study, model_id, pair_type, path)
LEFT JOIN core_repeated_effects USING (study, model_id, pair_type, path)
LEFT JOIN out_refinements AS refinement USING (study, path)
LEFT JOIN out_controls AS control USING (study, model_id, pair_type, path)
ORDER BY study, position, model_id, pair_type, path_position;
