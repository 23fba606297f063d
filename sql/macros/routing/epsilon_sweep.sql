-- purpose: mean components at any thresholds, routed anew from the stored trajectories
-- grain: one row per study, model, pair type, path and epsilon
-- paper: appendix B.8 (threshold stability); appendix G
-- FROM epsilon_sweep([0.001, 0.1])
CREATE OR REPLACE MACRO epsilon_sweep(epsilons) AS TABLE
WITH thresholds AS (
    SELECT DISTINCT
        CASE
            WHEN isfinite(threshold) AND threshold > 0 THEN threshold
            ELSE error('epsilon_sweep: every epsilon must be a finite number above 0')
        END AS epsilon
    FROM (SELECT unnest(epsilons)::DOUBLE AS threshold)
),
steps AS MATERIALIZED (
    SELECT epsilon, row_number() OVER (ORDER BY epsilon) AS step FROM thresholds
),
-- A trajectory is active up to a step, so that one pass over the masses does for all thresholds.
passed AS (
    SELECT
        study, model_id, pair_type, path,
        len(list_filter(ladder, lambda here: is_active_at(endpoint_delta, here))) AS step,
        count(*) AS trajectory_count,
        sum(evidence_at(endpoint_delta, rising_mass, falling_mass, 0)) AS evidence,
        sum(contradiction_at(endpoint_delta, rising_mass, falling_mass, 0)) AS contradiction,
        sum(rising_mass + falling_mass) AS abs_response
    FROM core_masses
    CROSS JOIN (SELECT list(epsilon) AS ladder FROM steps)
    GROUP BY ALL
),
counted AS (
    SELECT study, model_id, pair_type, path, count(DISTINCT pair_id) AS pair_count
    FROM core_masses
    GROUP BY study, model_id, pair_type, path
)
SELECT
    study, model_id, pair_type, path, epsilon,
    any_value(pair_count) AS pair_count,
    coalesce(sum(trajectory_count) FILTER (passed.step >= steps.step), 0)
        / sum(trajectory_count) AS active_frac,
    coalesce(sum(evidence) FILTER (passed.step >= steps.step), 0) / sum(trajectory_count)
        AS evidence,
    coalesce(sum(contradiction) FILTER (passed.step >= steps.step), 0) / sum(trajectory_count)
        AS contradiction,
    coalesce(sum(abs_response) FILTER (passed.step < steps.step), 0) / sum(trajectory_count)
        AS fragility,
    sum(abs_response) / sum(trajectory_count) AS abs_response
FROM passed
JOIN counted USING (study, model_id, pair_type, path)
CROSS JOIN steps
GROUP BY study, model_id, pair_type, path, epsilon;
