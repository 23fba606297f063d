-- purpose: vulnerability and evidence margin through the training that changes the most
-- grain: one row per study of evidence, checkpoint of one training and statistic
-- paper: section 5, figure 2b (within-model transition)
-- The training is that of core_scene_turning; the paper draws it and gives no numbers.
CREATE OR REPLACE VIEW paper_evidence_transition AS
SELECT
    study,
    trajectory, -- the training
    epoch,
    statistic,
    estimate, -- a difference of accuracies, and score units
    NULL::DOUBLE AS published,
    if(estimate IS NULL, 'the training measured none', NULL) AS reason
FROM core_scene_checkpoints
SEMI JOIN core_scene_turning USING (study, trajectory)
UNPIVOT INCLUDE NULLS (estimate FOR statistic IN (vulnerability, evidence_margin))
ORDER BY study, trajectory, epoch, statistic DESC;
