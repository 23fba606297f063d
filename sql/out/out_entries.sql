-- purpose: entries of each registry at its newest re-audit: what changed, and the verdict
-- grain: one row per study and entry of its newest re-audit
CREATE OR REPLACE VIEW out_entries AS
WITH newest AS (
    SELECT *
    FROM stg_registry_entries
    QUALIFY resolved_at = max(resolved_at) OVER (PARTITION BY study)
),
verdicts AS (
    SELECT
        study, reaudit_id, entry,
        count(*) FILTER (verdict = 'fail') AS failed_count,
        count(*) FILTER (verdict = 'not enough evidence') AS open_count
    FROM stg_gate_verdicts
    GROUP BY study, reaudit_id, entry
)
SELECT
    newest.study,
    newest.reaudit_id,
    newest.resolved_at,
    newest.entry,
    newest.version,
    version.version_before, -- NULL of the first
    newest.state, -- audited, failed, or gone
    newest.change, -- none, version (the same content), or what became another
    newest.model_id, -- NULL unless audited
    newest.run_id,
    newest.weights_sha256,
    CASE
        WHEN failed_count > 0 THEN 'fail'
        WHEN open_count > 0 THEN 'not enough evidence'
        WHEN failed_count = 0 THEN 'pass'
    END AS verdict, -- NULL where no gate was asked
    newest.problem
FROM newest
LEFT JOIN core_entry_versions AS version USING (study, reaudit_id, entry)
LEFT JOIN verdicts USING (study, reaudit_id, entry)
ORDER BY newest.study, newest.entry;
