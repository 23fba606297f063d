-- purpose: cost of DECAF and of each baseline on Covertype, in worker seconds and rows
-- grain: one row per study and method with costs
-- paper: appendix I (measured cost)
-- Seconds are those of a worker, without loading the model. DECAF's seconds include reading inputs
-- but not the commit; those of a baseline begin when its rows and libraries are loaded. Both
-- permutations count as one method.
CREATE OR REPLACE VIEW core_covertype_costs AS
WITH explained AS (
    SELECT study, model_id, method, max(explained_rows) AS explained_rows
    FROM core_baselines
    WHERE score IS NOT NULL
    GROUP BY study, model_id, method
),
spent AS (
    SELECT study, model_id, 'DECAF' AS method, wall_seconds - load_seconds AS seconds,
        forward_rows AS predicted_rows, pair_count AS explained_rows, peak_memory_bytes
    FROM out_costs
    UNION ALL BY NAME
    SELECT study, model_id, method, wall_seconds AS seconds, cpu_seconds, predicted_rows,
        explained_rows, peak_memory_bytes
    FROM out_baseline_costs LEFT JOIN explained USING (study, model_id, method)
),
by_model AS (
    SELECT study, model_id,
        if(method IN ('global_permutation', 'context_permutation'), 'permutation', method)
            AS method,
        sum(seconds) AS seconds, sum(cpu_seconds) AS cpu_seconds,
        sum(predicted_rows) AS predicted_rows, max(explained_rows) AS explained_rows,
        max(peak_memory_bytes) AS peak_memory_bytes
    FROM spent SEMI JOIN core_covertype_models USING (study, model_id)
    GROUP BY ALL
),
decaf AS (SELECT study, model_id, seconds AS decaf_seconds FROM by_model WHERE method = 'DECAF')
SELECT
    study,
    method,
    count(*) AS model_count,
    avg(seconds) AS worker_seconds, -- mean per model, like the next columns
    avg(cpu_seconds) AS cpu_seconds, -- NULL if not measured
    avg(predicted_rows)::DOUBLE AS rows_per_model,
    avg(explained_rows) AS explained_rows, -- of DECAF: audited rows
    -- Over models with both costs; the paper divides two means over all models of each method.
    sum(seconds) FILTER (decaf_seconds IS NOT NULL) / nullif(sum(decaf_seconds), 0)
        AS relative_cost_same_models,
    sum(predicted_rows)::DOUBLE AS predicted_rows, -- of all models
    -- NULL if rows do not determine the seconds: for a model without rows, or a fit.
    CASE WHEN min(predicted_rows) > 0 AND method <> 'retraining'
        THEN 1e6 * sum(seconds) / sum(predicted_rows) END AS seconds_per_million_rows,
    sum(seconds) / nullif(sum(explained_rows), 0) AS seconds_per_explained_row,
    max(peak_memory_bytes)::DOUBLE AS peak_memory_bytes
FROM by_model LEFT JOIN decaf USING (study, model_id)
GROUP BY study, method;
