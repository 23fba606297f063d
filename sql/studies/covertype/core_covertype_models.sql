-- purpose: trained classifiers of Covertype, with their treatments
-- grain: one row per study and model with a recipe of Covertype, where there is a context path
-- paper: appendix I (setup)
-- The treatment is what the training data should induce; the recipe stored with the model names it.
-- path is the study's first path of kind context.
CREATE OR REPLACE VIEW core_covertype_models AS
WITH contexts AS (
    SELECT study, arg_min(path, position) AS path
    FROM core_paths
    WHERE kind = 'context'
    GROUP BY study
)
SELECT
    model.study,
    model.run_id,
    model.model_id,
    model.position, -- order in the configuration, from 0
    model.family,
    model.training ->> '$.recipe.classifier' AS classifier,
    model.training ->> '$.recipe.mechanism' AS mechanism,
    if(mechanism IN ('direct', 'gate', 'invert'), 'direction', 'fragility') AS module,
    CASE mechanism
        WHEN 'direct' THEN 'evidence'
        WHEN 'invert' THEN 'contradiction'
        WHEN 'fragile' THEN 'fragility'
    END AS mechanism_label, -- role that the treatment should cause; NULL without one
    (model.training ->> '$.recipe.strength')::DOUBLE AS strength, -- NULL in the fragility module
    (model.training ->> '$.recipe.seed')::BIGINT AS seed,
    -- NULL if the run does not record them.
    (model.training ->> '$.outcome.iterations')::BIGINT AS iterations,
    (model.training ->> '$.outcome.converged')::BOOLEAN AS converged,
    contexts.path
FROM stg_models AS model
JOIN core_current_runs USING (study, run_id)
JOIN contexts USING (study)
WHERE model.training ->> '$.recipe.recipe' = 'covertype_classifier';
