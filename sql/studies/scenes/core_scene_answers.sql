-- purpose: responses and labels of the contradiction models in both wall contexts, pair by pair
-- grain: one row per study, model of one of the three tasks, and pair on the context path
-- paper: appendix D (contradiction validation)
-- The path is the study's first one of kind context. The endpoint's context is wall bin 1, the
-- swapped context bin 0. In the swapped context, a pair preserves the two labels that it has at the
-- endpoint, swaps them, or collapses them into one; other is a pair of two labels with one label at
-- the endpoint. The number of a scene gives its shape, which the task Gate needs.
CREATE OR REPLACE VIEW core_scene_answers AS
WITH contexts AS (
    SELECT study, arg_min(path, position) AS path FROM core_paths WHERE kind = 'context' GROUP BY study
),
models AS (
    SELECT study, run_id, model_id, family, seed, path, epsilon, of_task.task
    FROM core_scene_models
    JOIN (VALUES ('object_color', 'direct'), ('context_gate', 'gate'), ('context_invert', 'invert'))
        AS of_task (trained, task) ON core_scene_models.task = trained
    JOIN contexts USING (study)
    JOIN core_current_runs USING (study, run_id)
    WHERE experiment = 'contradiction'
),
pairs AS (
    SELECT study, pair_id,
        -- TRY, since pairs of other studies have other names.
        TRY_CAST(regexp_extract(pair_type, 'object_hue_(\d+)', 1) AS BIGINT) AS object_map,
        TRY_CAST(regexp_extract(pair_type, 'wall_hue_(\d+)', 1) AS BIGINT) AS wall_map,
        plus_variant = 'colour_1' AS is_bin_1, -- hue of the factual object
        -- Sources are scene-NNNNNN, numbered as in decaf.studies.scenes.factors.
        TRY_CAST(regexp_extract(source_id, '\d+') AS BIGINT) // 15 % 4 = 1 AS is_shape_1
    FROM core_pairs
)
SELECT
    study,
    model_id,
    task, -- direct, gate or invert
    family,
    seed,
    object_map,
    wall_map,
    pair_id,
    is_active_at(endpoint_effect, epsilon) AS is_endpoint_active,
    abs(endpoint_effect) AS endpoint_magnitude, -- score units, like the next column
    sign(endpoint_effect) * swapped_effect AS aligned_effect, -- in the swapped context
    abs(swapped_effect) AS swapped_magnitude,
    is_endpoint_changed,
    CASE WHEN NOT is_swapped_changed THEN 'collapse' WHEN NOT is_endpoint_changed THEN 'other'
        WHEN is_endpoint_positive = is_swapped_positive THEN 'preserve' ELSE 'swap' END AS behaviour,
    -- Both labels are correct for the task.
    is_endpoint_changed AND is_endpoint_positive = is_bin_1 AS is_endpoint_right,
    is_swapped_changed = (task <> 'gate') AND is_swapped_positive = CASE task
        WHEN 'direct' THEN is_bin_1 WHEN 'gate' THEN is_shape_1 ELSE NOT is_bin_1 END
        AS is_swapped_right,
    -- Share of the two inputs whose label differs in the swapped context.
    ((is_endpoint_positive <> is_swapped_positive)::INTEGER
        + ((is_endpoint_positive <> is_endpoint_changed)
            <> (is_swapped_positive <> is_swapped_changed))::INTEGER) / 2 AS moved_share
FROM core_context_effects
JOIN models USING (study, run_id, model_id, path)
JOIN pairs USING (study, pair_id);
