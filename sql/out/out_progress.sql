-- purpose: how far the current runs have come, model by model, with running means
-- grain: one row per study and planned model
-- inputs: core_shards, core_current_runs, core_profiles, out_costs
-- paper: none
CREATE OR REPLACE VIEW out_progress AS
WITH shards AS (
    SELECT
        study,
        run_id,
        model_id,
        count(*) AS shard_count,
        count(*) FILTER (is_scored AND is_routed) AS done_count
    FROM core_shards
    GROUP BY study, run_id, model_id
),
means AS (
    SELECT
        study,
        model_id,
        avg(evidence) AS evidence,
        avg(contradiction) AS contradiction,
        avg(fragility) AS fragility
    FROM core_profiles
    GROUP BY study, model_id
)
SELECT
    shards.study,
    shards.run_id,
    run.started_at,
    run.is_finished,
    shards.model_id,
    shards.done_count,
    shards.shard_count,
    coalesce(cost.forward_rows, 0) AS forward_rows,
    cost.wall_seconds / nullif(cost.shard_count, 0) AS seconds_per_shard,
    means.evidence, -- over the trajectories so far, all pair types and paths
    means.contradiction,
    means.fragility
FROM shards
JOIN core_current_runs AS run USING (study, run_id)
LEFT JOIN means USING (study, model_id)
LEFT JOIN out_costs AS cost USING (study, model_id)
ORDER BY shards.study, shards.model_id;
