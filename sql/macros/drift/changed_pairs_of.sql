-- purpose: pairs whose role changed most with a version: three pairs of each of three changes of
--   role
-- grain: one row per study, entry, two roles and rank
-- paper: section 6.2
-- rel names a relation with the columns of core_entry_versions. An entry has one comparison: with an
-- alias, else with the last version that passed, else with the one before. Of six entries at most,
-- those with the largest change first. A source is there once for two roles; changes that are
-- smaller than what counts (smallest_response) are left out.
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
counted AS (
    SELECT pair.*, version.run_id, version.model_id, version.run_before, version.model_before,
        version.version_before, version.version,
        max(change_size) OVER (PARTITION BY study, entry) AS largest,
        sum(change_size * weight) OVER kind AS moved
    FROM pairs AS pair
    JOIN changed AS version USING (study, reaudit_id, entry, against)
    JOIN stg_runs AS run ON run.study = pair.study AND run.run_id = version.run_id
    WHERE role_before <> role_now AND change_size >= smallest_response(run.score, run.epsilon)
    WINDOW kind AS (PARTITION BY study, entry, role_before, role_now)
    QUALIFY row_number() OVER (PARTITION BY study, entry, role_before, role_now, source_id
        ORDER BY change_size DESC, pair_id, path, repetition) = 1
)
SELECT * EXCLUDE (reaudit_id, weight, largest, moved),
    dense_rank() OVER (PARTITION BY study ORDER BY largest DESC, entry) AS entry_place, -- from 1
    dense_rank() OVER (PARTITION BY study, entry ORDER BY moved DESC, role_before, role_now)
        AS kind_place, -- the change of role that moved most is 1
    row_number() OVER (PARTITION BY study, entry, role_before, role_now
        ORDER BY change_size DESC, pair_id, path, repetition) AS rank -- 1 is the largest change
FROM counted
QUALIFY entry_place <= 6 AND kind_place <= 3 AND rank <= 3;
