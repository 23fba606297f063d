-- purpose: vulnerability and evidence margin at every checkpoint of one training
-- grain: one row per study of evidence, checkpoint of one training and statistic
-- paper: section 5, figure 2b (within-model transition)
-- The training is that of core_scene_turning. The paper has a curve but no numbers.
CREATE OR REPLACE VIEW paper_evidence_transition AS
SELECT
    study,
    trajectory, -- the training
    epoch,
    statistic,
    estimate, -- difference of accuracies, or score units
    NULL::DOUBLE AS published,
    if(estimate IS NULL, 'the training measured none', NULL) AS reason
FROM core_scene_checkpoints
SEMI JOIN core_scene_turning USING (study, trajectory)
UNPIVOT INCLUDE NULLS (estimate FOR statistic IN (vulnerability, evidence_margin))
ORDER BY study, trajectory, epoch, statistic DESC;
