-- purpose: fragility of models to the floor, and the effect of the floor on their labels
-- grain: one row per study and model that is trained as a variant
-- paper: section 5; appendix D (fragility validation)
-- The path is the study's first Gaussian path. Fragility is that of floor map 1 and the first half
-- of the noise seeds. Behaviour is held out: floor map 2, the other seeds, and inactive pairs.
CREATE OR REPLACE VIEW core_scene_fragility AS
WITH models AS (FROM core_scene_models WHERE experiment = 'fragility'),
paths AS (
    SELECT study, path, repetition_count
    FROM core_paths
    SEMI JOIN (FROM core_scene_paths WHERE is_primary) USING (study, path)
),
fitted AS (
    SELECT study, model_id, avg(fragility) AS fragility
    FROM core_profiles
    JOIN paths USING (study, path)
    SEMI JOIN models USING (study, model_id)
    WHERE scene_factor(pair_type) = 'floor_hue' AND coalesce(scene_map(pair_type), 1) = 1
        AND repetition * 2 < repetition_count
    GROUP BY study, model_id
),
held_out AS (
    SELECT study, model_id, weights_of(t) AS weights,
        is_active_at(q_plus[-1] - q_minus[-1], epsilon) AS is_active,
        list_transform(response_of(q_plus, q_minus), lambda r: abs(r)) AS changes,
        list_transform(q_plus, lambda q, stage:
            ((q >= 0.5) <> (q_minus[stage] >= 0.5))::INTEGER::DOUBLE) AS flips
    FROM core_trajectories
    JOIN core_current_runs USING (study, run_id)
    JOIN paths USING (study, path)
    SEMI JOIN models USING (study, model_id)
    WHERE scene_factor(pair_type) = 'floor_hue' AND scene_map(pair_type) = 2
        AND repetition * 2 >= repetition_count
),
behaviours AS (
    SELECT study, model_id, count(*) AS held_out_count,
        count(*) FILTER (NOT is_active) AS null_count,
        avg(integral_of(flips, weights)) FILTER (NOT is_active) AS null_prediction_change_rate,
        avg(integral_of(changes, weights)) FILTER (NOT is_active) AS confidence_fragility
    FROM held_out
    GROUP BY study, model_id
)
SELECT
    study, model_id, position, family, variant, seed,
    validation_accuracy, -- balanced, share of scenes
    active_frac, -- of the floor, share of endpoint pairs
    coalesce(validation_accuracy >= 0.99 AND active_frac <= 0.05, false) AS passes_gates,
    fragility, -- score units
    null_count, -- held-out trajectories of inactive pairs
    null_prediction_change_rate, -- share of the stages
    confidence_fragility, -- score units
    CASE WHEN held_out_count IS NULL THEN 'no second floor map or noise seed to hold out'
        WHEN null_count = 0 THEN 'no inactive pair' END AS reason -- why both are NULL
FROM models
LEFT JOIN (FROM core_scene_activity WHERE factor = 'floor_hue') USING (study, model_id)
LEFT JOIN fitted USING (study, model_id)
LEFT JOIN behaviours USING (study, model_id);
