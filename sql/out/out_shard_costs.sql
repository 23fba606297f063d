-- purpose: what scoring each shard took
-- grain: one row per study and scored shard
-- inputs: stg_costs, core_shards
-- paper: appendix C.2 (query complexity)
CREATE OR REPLACE VIEW out_shard_costs AS
SELECT
    study,
    cost.model_id,
    shard.block,
    cost.shard_key,
    cost.pair_count,
    cost.trajectory_count, -- quarantined ones included
    cost.forward_rows, -- distinct states, sent through the model
    cost.naive_rows, -- both branches at every stage
    1 - cost.forward_rows / nullif(cost.naive_rows, 0) AS rows_saved_frac,
    cost.load_seconds, -- 0 when the worker held the model
    cost.build_seconds,
    cost.forward_seconds,
    cost.wall_seconds, -- until its commit
    cost.forward_rows / nullif(cost.wall_seconds, 0) AS rows_per_second,
    cost.batch_size,
    cost.peak_memory_bytes, -- CUDA peak allocation, or peak RSS of the worker
    cost.device,
    cost.worker,
    cost.started_at
FROM stg_costs AS cost
JOIN core_shards AS shard USING (study, model_id, shard_key)
ORDER BY study, cost.model_id, shard.block, cost.shard_key;
