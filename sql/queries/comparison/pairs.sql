-- purpose: pairs whose E, C and F differ most between two runs, with both trajectories and pictures
-- A path whose stages differ between the runs is left out. run_diff_pairs joins the runs.
WITH runs AS MATERIALIZED (FROM compared_runs($run_a, $run_b)),
entries AS (SELECT DISTINCT study, run_id, model_id, entry FROM stg_registry_entries),
paths AS (
    SELECT path FROM stg_paths JOIN runs USING (study, run_id)
    GROUP BY path HAVING count(DISTINCT t) = 1
),
moved AS (
    SELECT
        run.study, model_id AS entry, pair_type, path, pair_id, source_id, repetition, weight,
        coalesce(role_a, 'none') AS role_before, coalesce(role_b, 'none') AS role_now,
        change_of_profile(evidence_a, contradiction_a, fragility_a,
            evidence_b, contradiction_b, fragility_b) AS change_size,
        evidence_a AS evidence_before, contradiction_a AS contradiction_before,
        fragility_a AS fragility_before, endpoint_delta_a AS endpoint_delta_before,
        evidence_b AS evidence, contradiction_b AS contradiction, fragility_b AS fragility,
        endpoint_delta_b AS endpoint_delta
    FROM run_diff_pairs($run_a, $run_b)
    SEMI JOIN paths USING (path)
    JOIN (FROM runs WHERE side = 'b') AS b ON TRUE
    JOIN stg_runs AS run ON run.study = b.study AND run.run_id = b.run_id
    WHERE change_size >= smallest_response(run.score, run.epsilon)
),
ranked AS MATERIALIZED (FROM rank_changed_pairs('moved')),
curves AS MATERIALIZED (
    SELECT side, coalesce(entries.entry, model_id) AS entry, pair_id, path, repetition,
        t, q_plus, q_minus
    FROM stg_trajectories
    JOIN stg_run_units USING (study, model_id, unit_key)
    JOIN runs USING (study, run_id)
    LEFT JOIN entries USING (study, run_id, model_id)
    SEMI JOIN ranked USING (pair_id, path, repetition)
),
pictures AS (
    FROM stg_shown_pairs JOIN runs USING (study, run_id)
    QUALIFY row_number() OVER (PARTITION BY pair_id, path, repetition ORDER BY side DESC) = 1
)
SELECT
    ranked.*, now.t, before.q_plus AS q_plus_before, before.q_minus AS q_minus_before, now.q_plus,
    now.q_minus, pair_type AS type_name, path AS path_name, words, factual, counterfactual, states, shown_t
FROM ranked
JOIN (FROM curves WHERE side = 'b') AS now USING (entry, pair_id, path, repetition)
JOIN (FROM curves WHERE side = 'a') AS before USING (entry, pair_id, path, repetition)
LEFT JOIN pictures USING (pair_id, path, repetition)
ORDER BY entry_place, kind_place, rank
