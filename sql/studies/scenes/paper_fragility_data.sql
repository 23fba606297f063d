-- purpose: test whether a study of fragility on scenes has the images and sizes of the paper
-- grain: one row per study of fragility on scenes
-- paper: appendix D (fragility validation)
CREATE OR REPLACE VIEW paper_fragility_data AS
SELECT * -- counts, and whether they are those of the paper
FROM scene_data('fragility')
ORDER BY study;
