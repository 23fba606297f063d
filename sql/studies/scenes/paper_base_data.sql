-- purpose: test whether a study of the base suite of scenes has the images and sizes of the paper
-- grain: one row per study of the base suite of scenes
-- paper: appendix D (dataset and factors; clean endpoint pairs)
CREATE OR REPLACE VIEW paper_base_data AS
SELECT * -- counts, and whether they are those of the paper
FROM scene_data('base')
ORDER BY study;
