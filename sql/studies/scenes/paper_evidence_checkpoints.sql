-- purpose: dependence of every checkpoint on the wall, and five margins of wall over shape
-- grain: one row per study of evidence, training, epoch and statistic
-- paper: section 5, figure 2a; appendix E (evidence across training trajectories), figure 7
-- The paper gives no value of a single checkpoint.
CREATE OR REPLACE VIEW paper_evidence_checkpoints AS
SELECT
    study,
    trajectory, -- the training
    family,
    shortcut, -- how often the wall tells the label in training
    seed,
    epoch,
    checkpoint, -- place among the audited epochs of the training, from 1
    statistic,
    estimate, -- a difference of accuracies, and score units
    NULL::DOUBLE AS published,
    if(estimate IS NULL, 'the training measured none', NULL) AS reason
FROM core_scene_checkpoints
UNPIVOT INCLUDE NULLS (estimate FOR statistic IN (
    vulnerability, evidence_margin, abs_margin, magnitude_margin, wall_evidence, net_margin
))
ORDER BY study, position, trajectory, epoch,
    list_position(['vulnerability', 'evidence_margin'], statistic), statistic;
