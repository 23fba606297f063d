-- purpose: verdict of every gate on the present versions of a registry, the worst first
-- grain: one row per study, entry and gate rule, and per pair type and path (or per variant)
CREATE OR REPLACE VIEW out_verdicts AS
SELECT
    * EXCLUDE (is_newest, reaudit_id, position, judged_reaudit_id, judged_at),
    judged_reaudit_id AS reaudit_id
FROM core_gates
WHERE is_newest
ORDER BY
    study, list_position(['fail', 'undecided', 'pass', 'not applicable'], verdict), position;
