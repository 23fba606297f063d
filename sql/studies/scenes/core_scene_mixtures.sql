-- purpose: responses of contradiction models at the 21 channel probabilities of the paper
-- grain: one row per study, model, wall map and eta (0 to 0.5 by 0.025)
-- paper: section 5; appendix D (contradiction validation)
CREATE OR REPLACE VIEW core_scene_mixtures AS
FROM scene_mixtures(list_transform(range(21), lambda step: step / 40));
