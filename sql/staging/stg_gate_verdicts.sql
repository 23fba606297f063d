-- purpose: what the gates said at every re-audit
-- grain: one row per re-audit, and rule of a gate on one row of the drift
-- inputs: files.gate_verdicts
-- paper: none
CREATE OR REPLACE VIEW stg_gate_verdicts AS
SELECT
    study::VARCHAR AS study,
    reaudit_id::VARCHAR AS reaudit_id,
    position::BIGINT AS position,
    entry::VARCHAR AS entry,
    metric::VARCHAR AS metric,
    rule::VARCHAR AS rule,
    pair_type::VARCHAR AS pair_type,
    path::VARCHAR AS path,
    variant::VARCHAR AS variant,
    gate_limit::DOUBLE AS gate_limit,
    level::DOUBLE AS level,
    found::DOUBLE AS found,
    lower_limit::DOUBLE AS lower_limit,
    upper_limit::DOUBLE AS upper_limit,
    verdict::VARCHAR AS verdict,
    reason::VARCHAR AS reason
FROM read_parquet(
    getvariable('files').gate_verdicts,
    hive_partitioning = true,
    hive_types = {study: VARCHAR}
);
