-- purpose: blocks of pairs of every model of the current runs, and their progress
-- grain: one row per study, model and block of its current run
CREATE OR REPLACE VIEW core_blocks AS
-- Kinds are told apart among the groups: DuckDB takes any condition on units for one that leaves few,
-- and would hash them all to look up what is committed.
WITH blocks AS (
    SELECT
        study,
        model_id,
        block,
        bool_and(is_made) FILTER (kind IN ('predict', 'score')) AS is_scored,
        coalesce(bool_and(is_made) FILTER (kind = 'route'), true) AS is_routed -- or nothing to route
    FROM core_run_units
    GROUP BY study, model_id, block
    HAVING bool_or(kind IN ('predict', 'score', 'route'))
)
SELECT study, run_id, model_id, block, is_scored, is_routed
FROM blocks
JOIN core_current_runs USING (study);
