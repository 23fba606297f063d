-- purpose: what every method took of workers and models, beside DECAF
-- grain: one row per study, method and statistic
-- inputs: core_covertype_models, out_costs, out_baseline_costs
-- paper: appendix H (measured cost)
-- Seconds are those that a worker was busy, by model; relative_cost is over those of DECAF, whose
-- trajectories also give M, Abs, Net, OppMass and SignFlip. Both permutations count as one method.
CREATE OR REPLACE VIEW paper_covertype_costs AS
WITH paper (method, models, worker_seconds, relative_cost, predicted_rows) AS (
    VALUES ('DECAF', 135, 1.42, 1, 25920000), ('pdp_ale', 135, 2.22, 1.57, 38880000),
        ('lime', 45, 8.38, 5.92, 11796480), ('permutation', 135, 13.32, 9.41, 207360000),
        ('kernel_shap', 45, 45.30, 31.99, 377501760), ('native_shap', 135, 387.65, 273.8, NULL),
        ('retraining', 135, 19.70, 13.91, NULL),
        ('shap_interaction', 54, 15097.63, 10662.38729531742, NULL)
),
spent AS (
    SELECT study, model_id, 'DECAF' AS method, wall_seconds, forward_rows AS predicted_rows,
        peak_memory_bytes
    FROM out_costs
    UNION ALL BY NAME
    SELECT study, model_id, if(ends_with(method, '_permutation'), 'permutation', method) AS method,
        wall_seconds, cpu_seconds, predicted_rows, peak_memory_bytes
    FROM out_baseline_costs
),
totals AS (
    SELECT
        study, method,
        count(DISTINCT model_id)::DOUBLE AS models,
        sum(wall_seconds) / models AS worker_seconds,
        sum(cpu_seconds) / models AS cpu_seconds, -- NULL where it is not measured
        sum(predicted_rows)::DOUBLE AS predicted_rows,
        max(peak_memory_bytes)::DOUBLE AS peak_memory_bytes
    FROM spent SEMI JOIN core_covertype_models USING (study, model_id)
    GROUP BY study, method
),
ours AS (
    SELECT one.*, one.worker_seconds / nullif(decaf.worker_seconds, 0) AS relative_cost
    FROM totals AS one
    LEFT JOIN (FROM totals WHERE method = 'DECAF') AS decaf USING (study)
)
SELECT study, method, statistic,
    estimate, -- models, s, times DECAF's, rows of a model, bytes
    published, -- NULL where the paper has none
    estimate - published AS difference,
    CASE WHEN estimate IS NULL THEN 'not measured' END AS reason
FROM (
    SELECT study, ours.method, unnest([
        {statistic: 'models', estimate: ours.models, published: paper.models::DOUBLE},
        {statistic: 'worker_seconds', estimate: ours.worker_seconds,
            published: paper.worker_seconds::DOUBLE},
        {statistic: 'cpu_seconds', estimate: cpu_seconds, published: NULL},
        {statistic: 'relative_cost', estimate: ours.relative_cost,
            published: paper.relative_cost::DOUBLE},
        {statistic: 'predicted_rows', estimate: ours.predicted_rows,
            published: paper.predicted_rows::DOUBLE},
        {statistic: 'peak_memory_bytes', estimate: peak_memory_bytes, published: NULL}
    ], recursive := true)
    FROM ours LEFT JOIN paper ON paper.method = ours.method
)
ORDER BY study, method <> 'DECAF', method, statistic;
