-- purpose: vulnerability of every checkpoint, and margins of the wall over the shape
-- grain: one row per study of evidence, training, epoch and statistic
-- paper: section 5, figure 2a; appendix E (evidence across training trajectories), figure 7
-- The paper has no values of single checkpoints.
CREATE OR REPLACE VIEW paper_evidence_checkpoints AS
SELECT
    study,
    trajectory, -- the training
    family,
    shortcut, -- share of training scenes whose wall has the colour of the label
    seed,
    epoch,
    checkpoint, -- number among the audited epochs of the training, from 1
    statistic,
    estimate, -- difference of accuracies, or score units
    NULL::DOUBLE AS published,
    if(estimate IS NULL, 'the training measured none', NULL) AS reason
FROM core_scene_checkpoints
UNPIVOT INCLUDE NULLS (estimate FOR statistic IN (
    vulnerability, evidence_margin, abs_margin, magnitude_margin, wall_evidence, net_margin
))
ORDER BY study, position, trajectory, epoch,
    list_position(['vulnerability', 'evidence_margin'], statistic), statistic;
