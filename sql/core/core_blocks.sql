-- purpose: blocks of pairs of every model of the current runs, and how far each has come
-- grain: one row per study, model and block of its current run
CREATE OR REPLACE VIEW core_blocks AS
SELECT
    study,
    run_id,
    model_id,
    block,
    bool_and(is_made) FILTER (kind IN ('predict', 'score')) AS is_scored,
    coalesce(bool_and(is_made) FILTER (kind = 'route'), true) AS is_routed -- or nothing to route
FROM core_run_units
WHERE kind IN ('predict', 'score', 'route')
GROUP BY study, run_id, model_id, block;
