-- purpose: standard errors of the scores of stochastic models, from their repeated queries
-- grain: one row per study, model, pair, path and repetition of a stochastic model
-- paper: appendix C.3 (repeated queries)
CREATE OR REPLACE VIEW core_score_noise AS
WITH responses AS (
    SELECT
        study, model_id, pair_id, path, repetition, unit_key,
        unnest(response_of(q_plus, q_minus)) AS response,
        generate_subscripts(q_plus, 1) AS stage
    FROM stg_repeats
),
stages AS (
    SELECT
        study, model_id, pair_id, path, repetition, unit_key, stage,
        count(*) AS repeat_count,
        stddev_samp(response) / sqrt(count(*)) AS standard_error
    FROM responses
    GROUP BY study, model_id, pair_id, path, repetition, unit_key, stage
),
errors AS (
    SELECT
        study, model_id, pair_id, path, repetition, unit_key,
        max(repeat_count) AS repeat_count,
        list(standard_error ORDER BY stage) AS response_errors
    FROM stages
    GROUP BY study, model_id, pair_id, path, repetition, unit_key
)
SELECT
    study, model_id, pair_id, path, repetition,
    repeat_count, -- queries of every input
    response_errors, -- standard error of the mean response at every stage, score units
    response_errors[-1] AS endpoint_error, -- standard error of d, score units
    -- Expected Abs of such noise if the true response is 0, score units.
    sqrt(2 / pi()) * integral_of(response_errors, weights_of(t)) AS noise_abs
FROM errors
JOIN core_trajectories USING (study, model_id, pair_id, path, repetition, unit_key);
