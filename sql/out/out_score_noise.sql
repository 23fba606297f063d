-- purpose: noise of stochastic models: pairs near epsilon, and share of Abs that noise explains
-- grain: one row per study, model, pair type and path of a stochastic model
-- paper: appendix C.3 (repeated queries)
CREATE OR REPLACE VIEW out_score_noise AS
SELECT
    study, model_id, pair_type, path,
    max(repeat_count) AS repeat_count, -- queries of every input
    count(*) AS trajectory_count,
    -- Trajectories with |d| within two standard errors of epsilon: noise may change their role.
    count_if(abs(endpoint_magnitude - epsilon) <= 2 * endpoint_error) AS near_epsilon_count,
    weighted_mean(endpoint_error, weight) AS endpoint_error, -- standard error of d, score units
    weighted_mean(noise_abs, weight) AS noise_abs, -- expected Abs of noise alone, score units
    weighted_mean(abs_response, weight) AS abs_response, -- score units
    weighted_mean(noise_abs, weight) / nullif(weighted_mean(abs_response, weight), 0)
        AS noise_frac -- of Abs; NULL if Abs = 0
FROM core_score_noise
JOIN core_profiles USING (study, model_id, pair_id, path, repetition)
GROUP BY study, model_id, pair_type, path
ORDER BY study, model_id, pair_type, path;
