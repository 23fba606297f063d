-- purpose: mean responses and label behaviours of the contradiction models, in each wall context
-- grain: one row per study, model, object map, wall map and context (endpoint, swapped)
-- paper: appendix D (contradiction validation)
CREATE OR REPLACE VIEW core_scene_contexts AS
WITH means AS (
    SELECT study, model_id, task, family, seed, object_map, wall_map, count(*) AS pair_count,
        {
            context: 'endpoint',
            evidence: avg(if(is_endpoint_active, endpoint_magnitude, 0)),
            contradiction: 0::DOUBLE,
            fragility: avg(if(is_endpoint_active, 0, endpoint_magnitude)),
            sign_change_share: 0::DOUBLE,
            preserve_share: avg(is_endpoint_changed::INTEGER),
            collapse_share: avg((NOT is_endpoint_changed)::INTEGER),
            swap_share: 0::DOUBLE,
            other_share: 0::DOUBLE,
            pair_accuracy: avg(is_endpoint_right::INTEGER),
            prediction_change: 0::DOUBLE
        } AS endpoint,
        {
            context: 'swapped',
            evidence: avg(if(is_endpoint_active, greatest(aligned_effect, 0), 0)),
            contradiction: avg(if(is_endpoint_active, greatest(-aligned_effect, 0), 0)),
            fragility: avg(if(is_endpoint_active, 0, swapped_magnitude)),
            sign_change_share: avg((is_endpoint_active AND aligned_effect < 0)::INTEGER),
            preserve_share: avg((behaviour = 'preserve')::INTEGER),
            collapse_share: avg((behaviour = 'collapse')::INTEGER),
            swap_share: avg((behaviour = 'swap')::INTEGER),
            other_share: avg((behaviour = 'other')::INTEGER),
            pair_accuracy: avg(is_swapped_right::INTEGER),
            prediction_change: avg(moved_share)
        } AS swapped
    FROM core_scene_answers
    GROUP BY ALL
)
SELECT
    * EXCLUDE (endpoint, swapped),
    unnest([endpoint, swapped], recursive := true) -- responses in score units, others are shares
FROM means;
