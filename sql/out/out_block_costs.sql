-- purpose: cost of every scan of a block; a path that is added later scans the block again
-- grain: one row per study and commit with predictions or scores
-- paper: appendix C.2 (query complexity)
CREATE OR REPLACE VIEW out_block_costs AS
WITH scans AS (
    SELECT
        study, model_id, commit_key,
        coalesce(sum(row_count) FILTER (kind = 'score'), 0)::BIGINT AS trajectory_count
    FROM core_run_units
    GROUP BY study, model_id, commit_key
    HAVING bool_or(kind IN ('predict', 'score')) -- here for the reason in core_blocks
)
SELECT
    study,
    cost.model_id,
    cost.block,
    commit_key,
    cost.item_count AS pair_count,
    scan.trajectory_count, -- of the run, including quarantined ones
    cost.forward_rows, -- distinct states, sent through the model
    cost.naive_rows, -- both branches at every stage
    1 - cost.forward_rows / nullif(cost.naive_rows, 0) AS rows_saved_frac,
    cost.load_seconds, -- 0 if the worker held the model
    cost.prepare_seconds AS build_seconds,
    cost.forward_seconds,
    cost.wall_seconds, -- up to the commit
    cost.forward_rows / nullif(cost.wall_seconds, 0) AS rows_per_second,
    cost.batch_size,
    cost.peak_memory_bytes, -- CUDA peak allocation, or peak RSS of the worker
    cost.device,
    cost.worker,
    cost.started_at
FROM stg_costs AS cost
JOIN scans AS scan USING (study, model_id, commit_key)
ORDER BY study, cost.model_id, cost.block, cost.started_at;
