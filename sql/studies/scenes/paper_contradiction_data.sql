-- purpose: test whether a study of contradiction on scenes has the images and sizes of the paper
-- grain: one row per study of contradiction on scenes
-- paper: appendix D (contradiction validation)
CREATE OR REPLACE VIEW paper_contradiction_data AS
SELECT * -- counts, and whether they are those of the paper
FROM scene_data('contradiction')
ORDER BY study;
