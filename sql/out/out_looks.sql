-- purpose: limits at each look of current runs that may stop early, and when each rule was
--   decided
-- grain: one row per study, entry or model, rule and look at it
-- Limits hold at all looks at once, for the value over all sources: nested, and exact at the end.
CREATE OR REPLACE VIEW out_looks AS
SELECT
    study,
    entry, -- or the model, where there is no registry
    model_id,
    metric,
    rule, -- of a gate, or half_width
    pair_type, -- NULL of accuracy, as the path
    path,
    variant, -- kind of clean image; NULL unless accuracy
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
