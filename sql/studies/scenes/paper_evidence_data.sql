-- purpose: test whether a study of evidence on scenes has the images and sizes of the paper
-- grain: one row per study of evidence on scenes
-- paper: appendix D (evidence validation through training trajectories)
CREATE OR REPLACE VIEW paper_evidence_data AS
SELECT * -- counts, and whether they are those of the paper
FROM scene_data('evidence')
ORDER BY study;
