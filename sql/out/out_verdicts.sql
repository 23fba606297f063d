-- purpose: what every gate said at the newest re-audit of each study, the worst first
-- grain: one row per study, entry, rule of a gate and row of the drift
CREATE OR REPLACE VIEW out_verdicts AS
SELECT
    version.study,
    verdict.entry,
    version.version,
    verdict.verdict,
    verdict.metric,
    verdict.rule, -- increase and decrease are about the change, at_most and at_least the value
    verdict.pair_type,
    verdict.path,
    verdict.variant,
    verdict.gate_limit,
    verdict.found,
    verdict.lower_limit,
    verdict.upper_limit,
    verdict.level,
    verdict.reason, -- why there is no interval
    version.reaudit_id
FROM stg_gate_verdicts AS verdict
JOIN core_entry_versions AS version USING (study, reaudit_id, entry)
WHERE version.is_newest
ORDER BY
    version.study,
    list_position(['fail', 'not enough evidence', 'pass'], verdict.verdict),
    verdict.position;
