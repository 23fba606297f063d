-- purpose: share of clean scenes that keep their label when the floor changes its colour
-- grain: one row per study and model that is trained as a variant
-- paper: appendix D (fragility validation, randomized-floor stability)
-- The paper has no definition and no number. We use the share of clean pairs with equal labels,
-- over all floor maps. Clean inputs have no noise, so one repetition suffices.
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
