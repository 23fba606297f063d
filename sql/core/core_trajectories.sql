-- purpose: score trajectories of the current runs, with properties of the pair
-- grain: one row per study, model, pair, path and repetition
-- paper: section 2
CREATE OR REPLACE VIEW core_trajectories AS
SELECT
    study, run_id, trajectory.model_id, pair_id,
    pair.source_id, pair.pair_type, pair.class_id, pair.weight,
    trajectory.* EXCLUDE (study, model_id, pair_id, unit_key), -- scores in score units
    unit_key
FROM stg_trajectories AS trajectory
JOIN stg_run_units AS unit USING (study, model_id, unit_key)
JOIN core_current_runs AS run USING (study, run_id)
JOIN stg_pairs AS pair USING (study, pairs_digest, pair_id);
