-- purpose: models that studies train on scenes, with their treatments
-- grain: one row per study and model whose recipe is one of scenes
-- paper: appendix D
-- A task is trained on single scenes or in two contexts, depending on the adapter of the study.
-- Each audited epoch of a training has a row.
CREATE OR REPLACE VIEW core_scene_models AS
SELECT
    model.study,
    model.run_id,
    model.model_id,
    model.position, -- order in the configuration, from 0
    model.family,
    CASE model.training ->> '$.recipe.recipe'
        WHEN 'scene_shortcut' THEN 'evidence'
        WHEN 'scene_variant' THEN 'fragility'
        ELSE if(run.config ->> '$.data.adapter' = 'shapes3d_context', 'contradiction', 'base')
    END AS experiment, -- base, evidence, fragility or contradiction
    coalesce(model.training ->> '$.recipe.task', 'object_shape') AS task,
    model.training ->> '$.recipe.variant' AS variant, -- robust, neutral or fragile; else NULL
    (model.training ->> '$.recipe.shortcut')::DOUBLE AS shortcut, -- NULL without one
    (model.training ->> '$.recipe.seed')::BIGINT AS seed,
    (model.card ->> '$.epoch')::BIGINT AS epoch, -- NULL for the final weights
    regexp_replace(model.model_id, '@e\d+$', '') AS trajectory, -- the training, over its epochs
    (model.training ->> '$.outcome.validation_accuracy')::DOUBLE AS validation_accuracy,
    (model.training ->> '$.outcome.epochs_trained')::BIGINT AS epochs_trained,
    -- NULL if the recipe requires no accuracy, or the epoch is not the last.
    (model.training ->> '$.outcome.reached_gate')::BOOLEAN AS reached_gate,
    (model.training ->> '$.outcome.aligned_accuracy')::DOUBLE AS aligned_accuracy, -- of a shortcut
    (model.training ->> '$.outcome.reversed_accuracy')::DOUBLE AS reversed_accuracy,
    (model.training ->> '$.outcome.vulnerability')::DOUBLE AS vulnerability -- the difference
FROM stg_models AS model
JOIN core_current_runs USING (study, run_id)
JOIN stg_runs AS run USING (study, run_id)
WHERE model.training ->> '$.recipe.recipe' IN ('scene_task', 'scene_shortcut', 'scene_variant');
