-- purpose: training of a study with the largest range of vulnerability over its checkpoints
-- grain: one row per study of evidence
-- paper: section 5, figure 2b (within-model transition)
-- Of equal ranges, the first by family, shortcut and seed counts.
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
