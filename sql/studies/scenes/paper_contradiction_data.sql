-- purpose: whether a study of contradiction has the data and models of the paper, as far as counts say
-- grain: one row per study whose current run is the contradiction experiment on scenes
-- paper: appendix D (contradiction validation)
CREATE OR REPLACE VIEW paper_contradiction_data AS
FROM scene_data('contradiction')
ORDER BY study;
