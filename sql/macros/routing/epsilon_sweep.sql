-- purpose: mean components at any thresholds, computed from the stored profiles
-- grain: one row per study, model, pair type, path and epsilon
-- paper: appendix B.8 (threshold stability); appendix G
-- Abs and opposed mass do not depend on the threshold.
-- FROM epsilon_sweep([0.001, 0.1])
CREATE OR REPLACE MACRO epsilon_sweep(epsilons) AS TABLE
WITH thresholds AS (
    SELECT DISTINCT valid_epsilon(threshold) AS epsilon
    FROM (SELECT unnest(epsilons) AS threshold)
),
steps AS MATERIALIZED (
    SELECT epsilon, row_number() OVER (ORDER BY epsilon) AS step FROM thresholds
),
-- A trajectory is active up to a step, so one pass over the profiles serves all thresholds.
passed AS (
    SELECT
        study, model_id, pair_type, path,
        len(list_filter(ladder, lambda here: is_active_at(endpoint_delta, here))) AS step,
        sum(weight) AS weight,
        sum(weight * (abs_response - opposed_mass)) AS evidence,
        sum(weight * opposed_mass) AS contradiction,
        sum(weight * abs_response) AS abs_response
    FROM core_profiles
    CROSS JOIN (SELECT list(epsilon) AS ladder FROM steps)
    GROUP BY ALL
),
counted AS (
    SELECT study, model_id, pair_type, path,
        pair_count_of(pair_id, repetition_count) AS pair_count
    FROM core_profiles
    LEFT JOIN core_paths USING (study, path)
    GROUP BY study, model_id, pair_type, path
)
SELECT
    study, model_id, pair_type, path, epsilon,
    any_value(pair_count) AS pair_count,
    coalesce(sum(weight) FILTER (passed.step >= steps.step), 0)
        / sum(weight) AS active_frac,
    coalesce(sum(evidence) FILTER (passed.step >= steps.step), 0) / sum(weight)
        AS evidence,
    coalesce(sum(contradiction) FILTER (passed.step >= steps.step), 0) / sum(weight)
        AS contradiction,
    coalesce(sum(abs_response) FILTER (passed.step < steps.step), 0) / sum(weight)
        AS fragility,
    sum(abs_response) / sum(weight) AS abs_response
FROM passed
JOIN counted USING (study, model_id, pair_type, path)
CROSS JOIN steps
GROUP BY study, model_id, pair_type, path, epsilon;
