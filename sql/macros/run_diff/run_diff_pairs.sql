-- purpose: profiles of two runs on the trajectories that both have, side by side
-- grain: one row per model, pair, path and repetition of both runs
-- Runs are named as in compared_runs. A model of a registry is named by its entry, so its versions
-- are compared. For changed roles, add WHERE role_a IS DISTINCT FROM role_b.
-- FROM run_diff_pairs('3f2a', '91bc')
CREATE OR REPLACE MACRO run_diff_pairs(run_a, run_b) AS TABLE
WITH entries AS (SELECT DISTINCT study, run_id, model_id, entry FROM stg_registry_entries),
sides AS MATERIALIZED (
    SELECT * REPLACE (coalesce(entry, model_id) AS model_id)
    FROM core_run_profiles
    JOIN compared_runs(run_a, run_b) USING (study, run_id)
    LEFT JOIN entries USING (study, run_id, model_id)
)
SELECT
    a.model_id, -- or its entry in the registry
    a.pair_id,
    a.source_id,
    a.pair_type,
    a.path,
    a.repetition,
    b.weight, -- of the pair in run_b
    a.endpoint_delta AS endpoint_delta_a, -- score units, as all that follow
    b.endpoint_delta AS endpoint_delta_b,
    a.endpoint_magnitude AS endpoint_magnitude_a,
    b.endpoint_magnitude AS endpoint_magnitude_b,
    a.evidence AS evidence_a,
    b.evidence AS evidence_b,
    a.contradiction AS contradiction_a,
    b.contradiction AS contradiction_b,
    a.fragility AS fragility_a,
    b.fragility AS fragility_b,
    a.abs_response AS abs_response_a,
    b.abs_response AS abs_response_b,
    a.role AS role_a, -- NULL without any response
    b.role AS role_b
FROM (FROM sides WHERE side = 'a') AS a
JOIN (FROM sides WHERE side = 'b') AS b
    USING (model_id, pair_id, pair_type, path, repetition);
