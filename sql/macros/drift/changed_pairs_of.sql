-- purpose: pairs whose role changed most with a version, three for each of three changes of role
-- grain: one row per study, entry, two roles and rank
-- paper: section 6.2
-- rel names a relation with the columns of core_entry_versions. Each entry is compared with one
-- version: that of an alias, else the last one that passed, else the one before. Changes below
-- smallest_response are left out; rank_changed_pairs ranks the others.
-- FROM changed_pairs_of('core_entry_versions')
CREATE OR REPLACE MACRO changed_pairs_of(rel) AS TABLE
WITH changed AS (FROM changed_versions(rel)),
pairs AS (
    SELECT
        study, reaudit_id, entry, against, pair_type, path, pair_id, source_id, repetition, weight,
        coalesce(role_before, 'none') AS role_before, coalesce(role, 'none') AS role_now,
        change_of_profile(evidence_before, contradiction_before, fragility_before,
            evidence, contradiction, fragility) AS change_size,
        evidence_before, contradiction_before, fragility_before, abs_response_before,
        endpoint_delta_before, evidence, contradiction, fragility, abs_response, endpoint_delta
    FROM drift_pairs('changed')
    WHERE is_compared
    QUALIFY list_position(['another_entry', 'last_passed', 'previous'], against) = min(
        list_position(['another_entry', 'last_passed', 'previous'], against)
    ) OVER (PARTITION BY study, entry)
),
chosen AS (
    SELECT pair.* EXCLUDE (reaudit_id), version.run_id, version.model_id, version.run_before,
        version.model_before, version.version_before, version.version
    FROM pairs AS pair
    JOIN changed AS version USING (study, reaudit_id, entry, against)
    JOIN stg_runs AS run ON run.study = pair.study AND run.run_id = version.run_id
    WHERE role_before <> role_now AND change_size >= smallest_response(run.score, run.epsilon)
)
FROM rank_changed_pairs('chosen');
