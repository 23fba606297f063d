-- purpose: test whether a study of evidence along trainings on scenes has the images and sizes of
--   the paper
-- grain: one row per study of evidence along trainings on scenes
-- paper: appendix D (evidence validation through training trajectories)
CREATE OR REPLACE VIEW paper_evidence_data AS
SELECT * -- counts, and whether the values of the paper are of such data
FROM scene_data('evidence')
ORDER BY study;
