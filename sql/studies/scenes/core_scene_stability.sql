-- purpose: share of clean scenes whose label the fragility models keep when the floor is
--   recoloured
-- grain: one row per study and model that is trained as a variant
-- paper: appendix D (fragility validation, randomized-floor stability)
-- The paper gives neither a definition nor a number: our reading is the share of clean pairs, under
-- all floor maps, with equal labels. Clean inputs have no noise, so that one repetition says it.
CREATE OR REPLACE VIEW core_scene_stability AS
SELECT
    study,
    model_id,
    avg(((q_plus[-1] >= 0.5) = (q_minus[-1] >= 0.5))::INTEGER) AS floor_stability -- share
FROM core_trajectories
SEMI JOIN (FROM core_scene_paths WHERE is_primary) USING (study, path)
SEMI JOIN (FROM core_scene_models WHERE experiment = 'fragility') USING (study, model_id)
WHERE scene_factor(pair_type) = 'floor_hue' AND repetition = 0
GROUP BY study, model_id;
