-- purpose: blocks of each model of the current runs, and which are scored and routed
-- grain: one row per study, model and block of its current run
CREATE OR REPLACE VIEW core_blocks AS
-- HAVING selects kinds, because DuckDB assumes that a condition on units leaves few of them, and
-- would then hash all units to look up commits.
WITH blocks AS (
    SELECT
        study,
        model_id,
        block,
        bool_and(is_made) FILTER (kind IN ('predict', 'score')) AS is_scored,
        coalesce(bool_and(is_made) FILTER (kind = 'route'), true) AS is_routed -- or without units
    FROM core_run_units
    GROUP BY study, model_id, block
    HAVING bool_or(kind IN ('predict', 'score', 'route'))
)
SELECT study, run_id, model_id, block, is_scored, is_routed
FROM blocks
JOIN core_current_runs USING (study);
