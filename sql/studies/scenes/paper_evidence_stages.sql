-- purpose: evidence along the path at every checkpoint of one training (core_scene_turning)
-- grain: one row per study of evidence, checkpoint of one training, stage and statistic
-- paper: section 5, figure 2b
-- Means over pairs, maps and noise seeds on the study's first Gaussian path.
CREATE OR REPLACE VIEW paper_evidence_stages AS
WITH chosen AS (
    SELECT study, model_id, trajectory, epoch, path
    FROM core_scene_models SEMI JOIN core_scene_turning USING (study, trajectory)
    JOIN core_scene_paths USING (study)
    WHERE is_primary
),
means AS (
    SELECT
        study, trajectory, epoch, t,
        avg(evidence) FILTER (scene_factor(pair_type) = 'wall_hue') AS wall_evidence,
        avg(evidence) FILTER (scene_factor(pair_type) = 'shape') AS shape_evidence
    FROM core_stages JOIN chosen USING (study, model_id, path)
    GROUP BY study, trajectory, epoch, t
)
SELECT
    study,
    trajectory, -- the training
    epoch,
    t, -- alpha
    statistic,
    estimate, -- score units
    NULL::DOUBLE AS published,
    NULL::VARCHAR AS reason
FROM means
UNPIVOT (estimate FOR statistic IN (wall_evidence, shape_evidence))
ORDER BY study, trajectory, epoch, t, statistic;
