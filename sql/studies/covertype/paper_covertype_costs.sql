-- purpose: cost of every method in worker seconds and rows, next to DECAF
-- grain: one row per study, method and statistic
-- paper: appendix I (measured cost)
-- No cost includes loading a model. Totals are compared with the paper's if as many rows are
-- audited; seconds per million predicted rows, or per explained row, are comparable at any size.
-- DECAF's trajectories also give M, Abs, Net, OppMass and SignFlip.
CREATE OR REPLACE VIEW paper_covertype_costs AS
-- Only for forests: XGBoost computes values of all features and pairs, as in the paper.
WITH remarks (method, remark) AS (
    VALUES ('native_shap', 'forests: only the value of the factor; shap computes all features'),
        ('shap_interaction', 'forests: only the requested pair; shap computes all pairs')
),
ours AS (
    SELECT one.*, one.worker_seconds / nullif(decaf.worker_seconds, 0) AS relative_cost,
        decaf.explained_rows AS audited_rows
    FROM core_covertype_costs AS one
    LEFT JOIN (FROM core_covertype_costs WHERE method = 'DECAF') AS decaf USING (study)
),
estimates AS (
    SELECT study, method, audited_rows, remark, unnest([
        {statistic: 'models', estimate: model_count::DOUBLE},
        {statistic: 'worker_seconds', estimate: worker_seconds},
        {statistic: 'cpu_seconds', estimate: cpu_seconds},
        {statistic: 'relative_cost', estimate: relative_cost},
        {statistic: 'relative_cost_same_models', estimate: relative_cost_same_models},
        {statistic: 'predicted_rows', estimate: predicted_rows},
        {statistic: 'seconds_per_million_rows', estimate: seconds_per_million_rows},
        {statistic: 'seconds_per_explained_row', estimate: seconds_per_explained_row},
        {statistic: 'peak_memory_bytes', estimate: peak_memory_bytes}
    ], recursive := true)
    FROM ours LEFT JOIN remarks USING (method)
)
SELECT study, method, statistic, estimate, -- models, s, times DECAF's, rows of all models, bytes
    published, -- NULL if the paper has no value
    CASE WHEN audited_rows = published_value('covertype', 'data', 'rows') OR NOT list_contains(
        ['worker_seconds', 'cpu_seconds', 'predicted_rows'], statistic)
        THEN difference END AS difference,
    CASE WHEN estimate IS NULL THEN 'not measured' WHEN statistic ~ 'cost|seconds' THEN remark
    END AS reason -- why the estimate is NULL, or what it measures
FROM with_published('estimates', 'covertype')
ORDER BY study, method <> 'DECAF', method, statistic;
