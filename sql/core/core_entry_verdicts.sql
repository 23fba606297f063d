-- purpose: verdict of the gates on every audited entry, start of its failure, and its acceptance
-- grain: one row per study, re-audit and audited entry
-- The re-audit that judged the content gave the verdict, which holds until the content changes.
CREATE OR REPLACE VIEW core_entry_verdicts AS
WITH verdicts AS (
    SELECT
        study, reaudit_id AS judged_reaudit_id, entry,
        ['no gate applies', 'pass', 'undecided', 'fail'][max(list_position(
            ['not applicable', 'pass', 'undecided', 'fail'], verdict))] AS verdict,
        list(DISTINCT metric ORDER BY metric) FILTER (verdict = 'fail') AS failed_gates
    FROM stg_gate_verdicts
    GROUP BY ALL
),
acceptances AS (
    FROM stg_acceptances
    QUALIFY accepted_at = max(accepted_at) OVER (PARTITION BY study, reaudit_id, entry)
        AND NOT is_undo
),
entries AS (
    SELECT
        entry.study, entry.reaudit_id, entry.resolved_at,
        entry.resolved_at = max(entry.resolved_at) OVER (PARTITION BY entry.study) AS is_newest,
        entry.entry, entry.version, entry.is_followed, entry.judged_reaudit_id,
        verdicts.verdict, -- worst of the gates that apply; NULL without a gate
        verdicts.failed_gates,
        CASE WHEN verdicts.verdict = 'fail'
            THEN min(entry.resolved_at) FILTER (verdicts.verdict = 'fail')
                OVER (PARTITION BY entry.study, entry.entry, entry.model_id)
        END AS content_failed_since, -- first failure of this content
        acceptance.accepted_at, acceptance.accepted_by, acceptance.why, -- NULL if not accepted
        count(*) FILTER (verdicts.verdict <> 'no gate applies')
            OVER (PARTITION BY entry.study, entry.entry
            ORDER BY entry.resolved_at RANGE UNBOUNDED PRECEDING EXCLUDE GROUP) AS judged_before
    FROM stg_registry_entries AS entry
    LEFT JOIN verdicts USING (study, judged_reaudit_id, entry)
    LEFT JOIN acceptances AS acceptance
        ON acceptance.study = entry.study
        AND acceptance.reaudit_id = entry.judged_reaudit_id
        AND acceptance.entry = entry.entry
    QUALIFY entry.state = 'audited'
),
with_reference AS (
    SELECT
        * EXCLUDE judged_before,
        -- Passed, accepted, ungated, or before any gate applied.
        coalesce(verdict = 'pass' OR verdict = 'no gate applies' AND judged_before = 0, true)
            OR accepted_at IS NOT NULL AS is_good,
        is_good AND (accepted_at IS NOT NULL OR (study, reaudit_id, entry)
            NOT IN (SELECT (study, reaudit_id, entry) FROM core_loosened_gates))
            AS is_reference, -- compared with later versions
        count(*) FILTER (is_good) OVER (PARTITION BY study, entry ORDER BY resolved_at) AS good_count
    FROM entries
)
SELECT
    with_reference.* EXCLUDE (resolved_at, is_good, good_count),
    -- Start of the standing failure over all versions; NULL without one.
    CASE WHEN verdict = 'fail' AND NOT is_good
        THEN min(resolved_at) FILTER (verdict = 'fail') OVER (PARTITION BY study, entry, good_count)
    END AS entry_failing_since
FROM with_reference;
