-- purpose: blocks of pairs of every model of the current runs, and how far each has come
-- grain: one row per study, model and block of its current run
-- inputs: core_run_units, stg_unit_parts
-- paper: none
CREATE OR REPLACE VIEW core_shards AS
WITH pairs AS (
    SELECT study, run_id, unit_key, value AS pairs_digest FROM stg_unit_parts WHERE part = 'pairs'
)
SELECT
    study,
    run_id,
    model_id,
    block,
    count(*) FILTER (kind = 'score') AS path_count,
    -- Quarantined ones included.
    coalesce(sum(row_count) FILTER (kind = 'score'), 0)::BIGINT AS trajectory_count,
    bool_and(is_made) FILTER (kind IN ('predict', 'score')) AS is_scored,
    bool_and(is_made) FILTER (kind = 'route') AS is_routed,
    count(DISTINCT pairs_digest) = 1 AS is_of_one_block,
    min(pairs_digest) AS pairs_digest
FROM core_run_units
LEFT JOIN pairs USING (study, run_id, unit_key)
WHERE kind IN ('predict', 'score', 'route')
GROUP BY study, run_id, model_id, block;
