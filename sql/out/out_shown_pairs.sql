-- purpose: strongest pairs that a report shows, with trajectory, description and pictures
-- grain: one row per study, pair type, model, component and rank
-- paper: section 3, equation 1
-- A run stores words and pictures at its end, unless `report: {inputs: false}` is set.
CREATE OR REPLACE VIEW out_shown_pairs AS
WITH stored AS (
    FROM stg_shown_pairs SEMI JOIN core_current_runs USING (study, run_id)
)
SELECT
    shown.* EXCLUDE source_id,
    trajectory.t,
    trajectory.q_plus, -- scores of the factual branch at the stages t, score units
    trajectory.q_minus,
    type_names.display_name AS type_name,
    path_names.display_name AS path_name,
    stored.words, -- NULL if nothing is stored
    stored.factual, -- WebP; NULL if inputs are not images
    stored.counterfactual,
    stored.states, -- one picture: a column per stage of shown_t, factual branch on top
    stored.shown_t
FROM core_shown_pairs AS shown
JOIN core_trajectories AS trajectory USING (study, model_id, pair_id, path, repetition)
LEFT JOIN stored USING (study, pair_id, path, repetition)
LEFT JOIN core_display_names AS type_names
    ON type_names.study = shown.study AND type_names.kind = 'pair_type'
    AND type_names.name = shown.pair_type
LEFT JOIN core_display_names AS path_names
    ON path_names.study = shown.study AND path_names.kind = 'path'
    AND path_names.name = shown.path
ORDER BY shown.study, shown.pair_type, shown.model_place, shown.component, shown.rank;
