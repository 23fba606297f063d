-- purpose: what every method took of workers and models, beside DECAF
-- grain: one row per study, method and statistic
-- inputs: core_covertype_costs
-- paper: appendix I (measured cost)
-- Nothing counts the loading of a model. Totals have a difference from the paper's where as many
-- rows are audited as there, 48,000; seconds per million predicted rows, or per explained row,
-- compare at any size. DECAF's trajectories also give M, Abs, Net, OppMass and SignFlip.
CREATE OR REPLACE VIEW paper_covertype_costs AS
WITH paper (method, models, worker_seconds, relative_cost, predicted_rows, cpu, explained) AS (
    VALUES ('DECAF', 135, 1.42, 1, 25920000, NULL, NULL),
        ('pdp_ale', 135, 2.22, 1.57, 38880000, NULL, NULL),
        ('lime', 45, 8.38, 5.92, 11796480, NULL, NULL),
        ('permutation', 135, 13.32, 9.41, 207360000, NULL, NULL),
        ('kernel_shap', 45, 45.30, 31.99, 377501760, NULL, NULL),
        ('native_shap', 135, 387.65, 273.8, NULL, NULL, NULL),
        ('retraining', 135, 19.70, 13.91, NULL, NULL, NULL),
        ('shap_interaction', 54, 15097.63, 10662.38729531742, NULL, 811875, 128)
),
-- Of forests alone: XGBoost's own values are of all features, and all pairs, as the paper's.
remarks (method, remark) AS (
    VALUES ('native_shap', 'of forests the value of the factor alone; shap computes all features'),
        ('shap_interaction', 'of forests the one pair that is asked for; shap computes all pairs')
),
ours AS (
    SELECT one.*, one.worker_seconds / nullif(decaf.worker_seconds, 0) AS relative_cost,
        decaf.explained_rows AS audited_rows
    FROM core_covertype_costs AS one
    LEFT JOIN (FROM core_covertype_costs WHERE method = 'DECAF') AS decaf USING (study)
),
compared AS (
    SELECT study, method, audited_rows, remark, unnest([
        {statistic: 'models', estimate: model_count::DOUBLE, published: paper.models::DOUBLE},
        {statistic: 'worker_seconds', estimate: ours.worker_seconds,
            published: paper.worker_seconds::DOUBLE},
        {statistic: 'cpu_seconds', estimate: cpu_seconds, published: cpu / paper.models},
        {statistic: 'relative_cost', estimate: ours.relative_cost,
            published: paper.relative_cost::DOUBLE},
        {statistic: 'relative_cost_same_models', estimate: relative_cost_same_models},
        {statistic: 'predicted_rows', estimate: ours.predicted_rows,
            published: paper.predicted_rows::DOUBLE},
        {statistic: 'seconds_per_million_rows', estimate: seconds_per_million_rows,
            published: 1e6 * paper.worker_seconds * paper.models / paper.predicted_rows},
        {statistic: 'seconds_per_explained_row', estimate: seconds_per_explained_row,
            published: paper.worker_seconds / explained},
        {statistic: 'peak_memory_bytes', estimate: peak_memory_bytes}
    ], recursive := true)
    FROM ours LEFT JOIN paper USING (method) LEFT JOIN remarks USING (method)
)
SELECT study, method, statistic, estimate, -- models, s, times DECAF's, rows of all models, bytes
    published, -- NULL where the paper has none
    CASE WHEN audited_rows = 48000 OR NOT list_contains(
        ['worker_seconds', 'cpu_seconds', 'predicted_rows'], statistic)
        THEN estimate - published END AS difference,
    CASE WHEN estimate IS NULL THEN 'not measured' WHEN statistic ~ 'cost|seconds' THEN remark
    END AS reason -- why the estimate is NULL, or what it is of
FROM compared
ORDER BY study, method <> 'DECAF', method, statistic;
