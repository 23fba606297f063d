-- purpose: what every gate says of the versions that a registry has now, the worst first
-- grain: one row per study, entry, rule of a gate and row of the drift
CREATE OR REPLACE VIEW out_verdicts AS
SELECT
    verdict.study,
    verdict.entry,
    entry.version,
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
    -- How far the whole interval lies beyond the limit; NULL unless it failed.
    CASE WHEN verdict.verdict = 'fail' THEN CASE
        WHEN rule IN ('increase', 'at_most') THEN lower_limit - gate_limit
        WHEN rule = 'at_least' THEN gate_limit - upper_limit
        ELSE -gate_limit - upper_limit
    END END AS beyond_by,
    verdict.reason, -- why there is no interval
    verdict.reaudit_id -- that judged
FROM stg_gate_verdicts AS verdict
JOIN core_entry_verdicts AS entry
    ON entry.study = verdict.study
    AND entry.judged_reaudit_id = verdict.reaudit_id
    AND entry.entry = verdict.entry
WHERE entry.is_newest
ORDER BY
    verdict.study,
    list_position(['fail', 'not enough evidence', 'pass', 'not applicable'], verdict.verdict),
    verdict.position;
