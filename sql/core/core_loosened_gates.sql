-- purpose: limits that a content of an entry failed, and that it met in no later verdict
-- grain: one row per study, re-audit, audited entry and failed limit
-- If the content passes or is not judged, then only because the gates were loosened or removed.
-- Failures up to the last acceptance of this content are left out.
CREATE OR REPLACE VIEW core_loosened_gates AS
WITH audited AS (FROM stg_registry_entries WHERE state = 'audited'),
accepted AS (
    SELECT (study, reaudit_id, entry)
    FROM stg_acceptances
    GROUP BY study, reaudit_id, entry
    HAVING NOT arg_max(is_undo, accepted_at)
),
judged AS (
    SELECT
        verdict.*, audited.model_id, audited.resolved_at,
        if(rule = 'at_least', -gate_limit, gate_limit) AS allowance, -- smaller is stricter
        max(audited.resolved_at) FILTER ((study, reaudit_id, entry) IN (FROM accepted))
            OVER (PARTITION BY study, entry, audited.model_id) AS accepted_moment
    FROM stg_gate_verdicts AS verdict
    JOIN audited USING (study, reaudit_id, entry)
)
SELECT
    later.study, later.reaudit_id, later.entry, failure.metric, failure.rule, failure.pair_type,
    failure.path, failure.variant, failure.gate_limit, min(failure.resolved_at) AS failed_since
FROM judged AS failure
JOIN audited AS later
    ON later.study = failure.study AND later.entry = failure.entry
    AND later.model_id = failure.model_id AND later.resolved_at > failure.resolved_at
LEFT JOIN judged AS holding
    ON holding.study = failure.study AND holding.entry = failure.entry
    AND holding.model_id = failure.model_id AND holding.verdict = 'pass'
    AND holding.metric = failure.metric AND holding.rule = failure.rule
    AND (holding.pair_type, holding.path, holding.variant)
        IS NOT DISTINCT FROM (failure.pair_type, failure.path, failure.variant)
    AND holding.allowance <= failure.allowance
    AND holding.resolved_at > failure.resolved_at AND holding.resolved_at <= later.resolved_at
WHERE failure.verdict = 'fail' AND holding.study IS NULL
    AND failure.resolved_at > coalesce(failure.accepted_moment, '-infinity')
GROUP BY ALL;
