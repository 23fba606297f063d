-- purpose: epochs of trainings with a shortcut: vulnerability and margins of responses
-- grain: one row per study of evidence and audited checkpoint
-- paper: appendix "Evidence validation through training trajectories"
-- A margin is the mean for the wall minus the mean for the shape, on the first Gaussian path.
CREATE OR REPLACE VIEW core_scene_checkpoints AS
WITH responses AS (
    SELECT
        study, model_id,
        -- Rounded so that equal means are ties in ranks.
        round(sum(side * evidence), 12) AS evidence_margin,
        round(sum(side * abs_response), 12) AS abs_margin,
        round(sum(side * endpoint_magnitude), 12) AS magnitude_margin,
        round(any_value(evidence) FILTER (factor = 'wall_hue'), 12) AS wall_evidence,
        round(sum(side * (evidence - contradiction)), 12) AS net_margin
    FROM (
        SELECT *, if(factor = 'wall_hue', 1, -1) AS side
        FROM core_scene_units
        WHERE is_primary AND measure = 'alpha' AND factor IN ('wall_hue', 'shape')
    )
    GROUP BY study, model_id
    HAVING count(*) = 2
)
SELECT
    study,
    model_id,
    model.position, -- order in the configuration, from 0
    model.family,
    model.shortcut,
    model.seed,
    model.trajectory,
    model.epoch,
    row_number() OVER (PARTITION BY study, model.trajectory ORDER BY model.epoch) AS checkpoint,
    model.vulnerability, -- accuracy with aligned walls minus that with reversed walls
    responses.* EXCLUDE (study, model_id) -- score units
FROM core_scene_models AS model
JOIN responses USING (study, model_id)
WHERE model.experiment = 'evidence';
