-- purpose: classifiers of Covertype that the study trained, with their treatments
-- grain: one row per study and model with a recipe of Covertype, where there is a context path
-- paper: appendix I (setup)
-- The treatment is what the training data attempt to induce; it is read from the recipe that is
-- stored with the model. The study's first path of kind context is the one that is judged.
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
    END AS mechanism_label, -- role that the treatment aims at; NULL where it aims at none
    (model.training ->> '$.recipe.strength')::DOUBLE AS strength, -- NULL in the fragility module
    (model.training ->> '$.recipe.seed')::BIGINT AS seed,
    -- Where fits are stopped by themselves or by the protocol; NULL where an old run tells nothing.
    (model.training ->> '$.outcome.iterations')::BIGINT AS iterations,
    (model.training ->> '$.outcome.converged')::BOOLEAN AS converged,
    contexts.path
FROM stg_models AS model
JOIN core_current_runs USING (study, run_id)
JOIN contexts USING (study)
WHERE model.training ->> '$.recipe.recipe' = 'covertype_classifier';
