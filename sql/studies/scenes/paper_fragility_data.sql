-- purpose: whether a study of fragility has the data and models of the paper, as far as counts say
-- grain: one row per study whose current run is the fragility experiment on scenes
-- paper: appendix D (fragility validation)
CREATE OR REPLACE VIEW paper_fragility_data AS
FROM scene_data('fragility')
ORDER BY study;
