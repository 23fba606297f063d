-- purpose: upper limits on responses, of `expect:` and of gates that pass at the newest re-audit
-- grain: one row per study, model, pair type, path, metric and limit
-- A NULL model, path or metric stands for all; a limit of `expect:` is for Abs and M.
CREATE OR REPLACE VIEW core_response_limits AS
SELECT study, NULL AS model_id, name AS pair_type, NULL AS path, NULL AS metric,
    safe_limit AS response_limit -- score units
FROM core_display_names
WHERE kind = 'pair_type' AND safe_limit IS NOT NULL
UNION ALL
SELECT study, model_id, pair_type, path, metric, gate_limit
FROM core_gates JOIN core_entries USING (study, reaudit_id, entry)
WHERE core_gates.is_newest AND core_gates.verdict = 'pass' AND rule = 'at_most';
