-- purpose: verdict of every gate on every version of a registry
-- grain: one row per study, re-audit, entry, rule of a gate, and pair type and path or variant
CREATE OR REPLACE VIEW core_gates AS
SELECT
    verdict.study,
    entry.reaudit_id,
    entry.is_newest,
    verdict.entry,
    entry.version,
    verdict.position,
    verdict.verdict,
    verdict.metric,
    verdict.rule, -- increase and decrease limit the change, at_most and at_least the value
    verdict.pair_type,
    verdict.path,
    verdict.variant,
    verdict.gate_limit,
    verdict.found,
    verdict.lower_limit,
    verdict.upper_limit,
    verdict.level,
    -- Distance from the limit to the interval; NULL unless the verdict is fail
    CASE WHEN verdict.verdict = 'fail' THEN CASE
        WHEN verdict.rule IN ('increase', 'at_most')
            THEN verdict.lower_limit - verdict.gate_limit
        WHEN verdict.rule = 'at_least' THEN verdict.gate_limit - verdict.upper_limit
        ELSE -verdict.gate_limit - verdict.upper_limit
    END END AS beyond_by,
    verdict.reason, -- why there is no interval, or why an earlier failure stands
    look.source_count, -- scored sources at the decision; NULL unless a look decided
    look.planned_source_count,
    entry.judged_reaudit_id, -- re-audit that judged this content, and its time
    judging.resolved_at AS judged_at
FROM stg_gate_verdicts AS verdict
JOIN core_entry_verdicts AS entry
    ON entry.study = verdict.study
    AND entry.judged_reaudit_id = verdict.reaudit_id
    AND entry.entry = verdict.entry
LEFT JOIN stg_registry_entries AS judging
    ON judging.study = entry.study
    AND judging.reaudit_id = entry.judged_reaudit_id
    AND judging.entry = entry.entry
LEFT JOIN stg_looks AS look
    ON look.is_last AND look.study = verdict.study AND look.run_id = judging.run_id
    AND look.entry = verdict.entry AND look.metric = verdict.metric AND look.rule = verdict.rule
    AND look.pair_type IS NOT DISTINCT FROM verdict.pair_type
    AND look.path IS NOT DISTINCT FROM verdict.path
    AND look.variant IS NOT DISTINCT FROM verdict.variant
    AND look.gate_limit = verdict.gate_limit
    AND look.verdict = verdict.verdict AND look.verdict IN ('pass', 'fail');
