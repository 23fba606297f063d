-- purpose: warnings about noise of stochastic models: pairs near epsilon, and share of Abs
-- grain: one row per study, model, warning and detail
-- paper: appendix C.3 (repeated queries)
CREATE OR REPLACE VIEW core_noise_warnings AS
SELECT study, model_id, 'near_epsilon_by_noise' AS warning,
    sum(near_epsilon_count)::BIGINT AS affected_count,
    format('of {:,} trajectories end within two standard errors of epsilon: their role is within '
        || 'the noise of {} queries', sum(trajectory_count)::BIGINT, max(repeat_count)) AS detail
FROM out_score_noise GROUP BY study, model_id HAVING sum(near_epsilon_count) > 0
UNION ALL
SELECT study, model_id, 'noise_in_abs', NULL,
    format('noise can explain {:.0f} % of Abs of {} on {}: use more repeats',
        100 * noise_frac, pair_type, path)
FROM out_score_noise WHERE noise_frac > 0.1;
