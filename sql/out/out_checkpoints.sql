-- purpose: checkpoints of the trainings of current runs, and which of them are audited
-- grain: one row per study, training and checkpoint
-- paper: appendix "Evidence validation through training trajectories"
CREATE OR REPLACE VIEW out_checkpoints AS
SELECT
    unit.study,
    unit.name AS training, -- name of its first model in the study
    made.epoch, -- from 1; NULL for the final weights
    made.file, -- below the study's workspace
    made.sha256,
    made.byte_count,
    EXISTS (
        FROM out_models AS model
        WHERE model.study = unit.study AND model.weights_sha256 = made.sha256
    ) AS is_audited,
    made.outcome -- outcome of the training up to this checkpoint, JSON
FROM core_run_units AS unit
JOIN stg_made_files AS made USING (study, unit_key)
WHERE unit.kind = 'train'
ORDER BY unit.study, training, made.epoch;
