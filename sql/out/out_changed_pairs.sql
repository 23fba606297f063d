-- purpose: pairs whose role changed most with a version, with trajectories and pictures
-- grain: one row per study, entry, two roles and rank
-- paper: section 6.2
-- Up to three pairs for each of the three largest changes of role (changed_pairs_of).
CREATE OR REPLACE VIEW out_changed_pairs AS
WITH changed AS MATERIALIZED (FROM core_changed_pairs),
sides AS (
    SELECT study, run_before AS run_id, model_before AS model_id, pair_id, path, repetition
    FROM changed
    UNION
    SELECT study, run_id, model_id, pair_id, path, repetition FROM changed
),
curves AS MATERIALIZED (
    SELECT study, side.run_id, model_id, pair_id, path, repetition, t, q_plus, q_minus
    FROM stg_trajectories
    JOIN stg_run_units AS unit USING (study, model_id, unit_key)
    JOIN sides AS side USING (study, run_id, model_id, pair_id, path, repetition)
)
SELECT
    changed.* EXCLUDE (source_id), -- score units; change_size is that of change_of_profile
    now.t,
    before.q_plus AS q_plus_before, -- scores of the factual branch at the stages t, score units
    before.q_minus AS q_minus_before,
    now.q_plus,
    now.q_minus,
    type_names.display_name AS type_name,
    path_names.display_name AS path_name,
    stored.words, -- NULL if nothing is stored
    stored.factual, -- WebP; NULL if inputs are not images
    stored.counterfactual,
    stored.states, -- one picture: a column per stage of shown_t, factual branch on top
    stored.shown_t
FROM changed
JOIN curves AS now USING (study, run_id, model_id, pair_id, path, repetition)
JOIN curves AS before ON before.study = changed.study AND before.run_id = changed.run_before
    AND before.model_id = changed.model_before AND before.pair_id = changed.pair_id
    AND before.path = changed.path AND before.repetition = changed.repetition
LEFT JOIN stg_shown_pairs AS stored
    ON stored.study = changed.study AND stored.run_id = changed.run_id
    AND stored.pair_id = changed.pair_id AND stored.path = changed.path
    AND stored.repetition = changed.repetition
LEFT JOIN core_display_names AS type_names
    ON type_names.study = changed.study AND type_names.kind = 'pair_type'
    AND type_names.name = changed.pair_type
LEFT JOIN core_display_names AS path_names
    ON path_names.study = changed.study AND path_names.kind = 'path'
    AND path_names.name = changed.path
ORDER BY changed.study, entry_place, kind_place, rank;
