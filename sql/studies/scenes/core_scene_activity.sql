-- purpose: number of endpoint pairs of every factor, and share of them that are active
-- grain: one row per study, model of scenes and factor
-- paper: appendix D (clean endpoint pairs)
-- Counts pairs on paths and pairs that are scored only at both ends, over all maps of the factor,
-- at the run's epsilon.
CREATE OR REPLACE VIEW core_scene_activity AS
WITH scores AS MATERIALIZED (
    SELECT
        study, model_id, image_id, epsilon,
        -- Lists count from 1. In these studies, all pairs have the score of one class.
        class_scores[(run.score ->> '$.target')::BIGINT + 1] AS q
    FROM core_predictions
    JOIN stg_runs AS run USING (study, run_id)
    SEMI JOIN core_scene_models USING (study, model_id)
),
-- Joins one side after the other. In one step, DuckDB may match both sides of all pairs first.
factual AS MATERIALIZED (
    SELECT study, model_id, pair_type, minus_image AS image_id, q, epsilon
    FROM core_pairs JOIN scores USING (study)
    WHERE plus_image = image_id
),
counts AS (
    SELECT
        study, model_id, pair_type, count(*) AS pair_count,
        count(*) FILTER (is_active_at(plus.q - minus.q, plus.epsilon)) AS active_count
    FROM factual AS plus
    JOIN scores AS minus USING (study, model_id, image_id)
    GROUP BY study, model_id, pair_type
)
SELECT
    study,
    model_id,
    scene_factor(pair_type) AS factor,
    sum(pair_count)::BIGINT AS pair_count,
    sum(active_count) / sum(pair_count) AS active_frac
FROM counts
GROUP BY study, model_id, factor;
