-- purpose: profiles of a version of an entry, next to those of the version before it
-- grain: one row per row of rel, pair, path and repetition of the version
-- paper: section 6.2
-- rel is as for drift_pairs. The columns of the version before are NULL if it lacks the trajectory
-- or cannot be compared. A path is compared if its definition is the same in both versions.
-- FROM version_pairs('core_entry_versions')
CREATE OR REPLACE MACRO version_pairs(rel) AS TABLE
WITH versions AS MATERIALIZED (FROM query_table(rel)),
profiles AS MATERIALIZED (
    FROM core_run_profiles WHERE (study, run_id, model_id) IN (FROM drift_runs('versions'))
),
same_paths AS (
    SELECT version.study, version.reaudit_id, version.entry, version.against, a.path
    FROM versions AS version
    JOIN stg_paths AS a ON a.study = version.study AND a.run_id = version.run_before
    JOIN stg_paths AS b ON b.study = version.study AND b.run_id = version.run_id
    WHERE a.path = b.path AND a.identity = b.identity AND a.t = b.t AND reason IS NULL
),
before AS MATERIALIZED (
    SELECT version.reaudit_id, version.entry, version.against, profile.*
    FROM profiles AS profile
    JOIN versions AS version
        ON version.study = profile.study
        AND version.run_before = profile.run_id
        AND version.model_before = profile.model_id
    SEMI JOIN same_paths
        ON same_paths.study = profile.study
        AND same_paths.reaudit_id = version.reaudit_id
        AND same_paths.entry = version.entry
        AND same_paths.against = version.against
        AND same_paths.path = profile.path
),
after AS MATERIALIZED (
    SELECT version.reaudit_id, version.entry, version.against, profile.*
    FROM profiles AS profile
    JOIN versions AS version USING (study, run_id, model_id)
)
SELECT
    after.study, after.reaudit_id, after.entry, after.against, after.pair_id, after.source_id,
    after.pair_type, after.path, after.repetition, after.weight,
    before.pair_id IS NOT NULL AS is_compared,
    after.endpoint_delta, before.endpoint_delta AS endpoint_delta_before, -- score units
    after.endpoint_magnitude, before.endpoint_magnitude AS endpoint_magnitude_before,
    after.evidence, before.evidence AS evidence_before,
    after.contradiction, before.contradiction AS contradiction_before,
    after.fragility, before.fragility AS fragility_before,
    after.abs_response, before.abs_response AS abs_response_before,
    after.is_endpoint_active, before.is_endpoint_active AS is_endpoint_active_before,
    after.role, before.role AS role_before -- NULL without any response, or without a comparison
FROM after
LEFT JOIN before USING (study, reaudit_id, entry, against, pair_id, pair_type, path, repetition);
