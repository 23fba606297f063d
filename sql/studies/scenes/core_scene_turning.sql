-- purpose: training of a study whose checkpoints change the most between wall and shape
-- grain: one row per study of evidence
-- paper: section 5, figure 2b (within-model transition)
-- It has the largest range of the vulnerability; ties are ordered by family, shortcut and seed.
CREATE OR REPLACE VIEW core_scene_turning AS
SELECT
    study,
    trajectory -- the training
FROM core_scene_models
WHERE experiment = 'evidence'
GROUP BY study, trajectory, family, shortcut, seed
QUALIFY row_number() OVER (
    PARTITION BY study
    ORDER BY max(vulnerability) - min(vulnerability) DESC NULLS LAST, family, shortcut, seed
) = 1;
