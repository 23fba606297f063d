-- purpose: bounds at each look of current runs that may stop early
-- grain: one row per study, entry or model, rule and look at it
-- Bounds are for the value over all sources. They are nested, hold at all looks together, and are
-- exact at the end.
CREATE OR REPLACE VIEW out_looks AS
SELECT
    study,
    entry, -- or the model, without a registry
    model_id,
    metric,
    rule, -- of a gate, or half_width
    pair_type, -- NULL for accuracy, as is the path
    path,
    variant, -- kind of clean image; NULL for other metrics
    gate_limit,
    block_count,
    source_count,
    planned_source_count,
    found, -- the value or change over the sources so far
    lower_limit,
    upper_limit,
    level,
    verdict,
    reason,
    is_last
FROM stg_looks
SEMI JOIN core_current_runs USING (study, run_id)
ORDER BY study, entry, metric, rule, pair_type, path, variant, gate_limit, block_count;
