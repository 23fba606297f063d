-- purpose: responses of the base suite, with the class of each model and factor
-- grain: one row per row of core_scene_units whose model is of the base suite
-- paper: appendix D (clean endpoint pairs); appendix E (complete decomposition atlas)
-- The class is null if the share of active endpoint pairs is below null_below, supported if it is
-- above supported_above, and otherwise intermediate.
-- FROM scene_classes(0.01, 0.1)
CREATE OR REPLACE MACRO scene_classes(null_below, supported_above) AS TABLE
WITH models AS (
    SELECT
        study, model_id, task, family, seed,
        if(count(*) OVER (PARTITION BY study, task, family) > 1, concat_ws(' ', task, family),
            'one seed') AS stratum
    FROM core_scene_models
    WHERE experiment = 'base'
)
SELECT
    task,
    family,
    seed,
    stratum, -- of the bootstrap: a task and family; one seed joins groups of one model
    unit.*,
    CASE
        WHEN active_frac < null_below THEN 'null'
        WHEN active_frac > supported_above THEN 'supported'
        WHEN active_frac IS NOT NULL THEN 'intermediate'
    END AS class, -- NULL without scored clean inputs
    -- Shares are 0 without any response.
    coalesce(evidence / nullif(abs_response, 0), 0) AS evidence_share,
    coalesce(contradiction / nullif(abs_response, 0), 0) AS contradiction_share,
    coalesce(fragility / nullif(abs_response, 0), 0) AS fragility_share,
    -- The label of the task depends on the factor.
    list_contains(CASE task
        WHEN 'object_color' THEN ['object_hue']
        WHEN 'wall_color' THEN ['wall_hue']
        WHEN 'object_shape' THEN ['shape']
        WHEN 'color_shape_xor' THEN ['object_hue', 'shape']
        WHEN 'context_gate' THEN ['wall_hue', 'object_hue', 'shape']
    END, factor) AS is_intended
FROM core_scene_units AS unit
JOIN models USING (study, model_id);
