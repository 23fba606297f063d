-- purpose: progress of the current runs, model by model
-- grain: one row per study and planned model
CREATE OR REPLACE VIEW out_progress AS
WITH blocks AS (
    SELECT
        study,
        run_id,
        model_id,
        count(*) AS block_count,
        count(*) FILTER (is_scored AND is_routed) AS done_count
    FROM core_blocks
    GROUP BY study, run_id, model_id
)
SELECT
    blocks.study,
    blocks.run_id,
    run.started_at,
    run.is_finished,
    blocks.model_id,
    blocks.done_count,
    blocks.block_count,
    coalesce(cost.forward_rows, 0) AS forward_rows,
    cost.wall_seconds / nullif(cost.block_count, 0) AS seconds_per_block
FROM blocks
JOIN core_current_runs AS run USING (study, run_id)
LEFT JOIN out_costs AS cost USING (study, model_id)
ORDER BY blocks.study, blocks.model_id;
