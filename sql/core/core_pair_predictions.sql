-- purpose: clean predictions of the current runs on both inputs of every pair
-- grain: one row per study, model and pair
-- paper: appendix F
CREATE OR REPLACE VIEW core_pair_predictions AS
WITH predictions AS (FROM core_predictions),
scores AS (
    SELECT
        study, run_id, (score ->> '$.target')::BIGINT AS target,
        if(score ->> '$.direction' = 'decreasing', -1, 1) AS sign
    FROM stg_runs
),
-- Joins one side after the other. DuckDB assumes few predictions, and would first join every two of
-- a model. unnest stops it: DuckDB moves conditions across unnest, but no joins.
plus_sides AS (
    SELECT
        pair.study,
        plus.run_id,
        plus.model_id,
        pair.pair_id,
        pair.source_id,
        pair.pair_type,
        pair.class_id,
        pair.plus_image,
        pair.minus_image,
        plus.predicted_class AS plus_class,
        plus.is_correct AS is_plus_correct,
        -- Lists count from 1. Without classes the only value counts, without labels that of class
        -- 0.
        if(plus_class IS NULL, 0, coalesce(score.target, pair.class_id, 0)) + 1 AS place,
        coalesce(score.sign, 1) AS sign,
        unnest([plus.class_scores[place]]) AS plus_score
    FROM core_pairs AS pair
    JOIN predictions AS plus
        ON plus.study = pair.study AND plus.image_id = pair.plus_image
    LEFT JOIN scores AS score ON score.study = plus.study AND score.run_id = plus.run_id
)
SELECT
    side.study,
    side.run_id,
    side.model_id,
    side.pair_id,
    side.source_id,
    side.pair_type,
    side.class_id,
    side.plus_image,
    side.plus_class,
    minus.predicted_class AS minus_class,
    side.is_plus_correct,
    side.sign * side.plus_score AS plus_score, -- q of the clean input
    side.sign * minus.class_scores[side.place] AS minus_score,
    len(minus.class_scores) AS class_count
FROM plus_sides AS side
JOIN predictions AS minus
    ON minus.study = side.study
    AND minus.model_id = side.model_id
    AND minus.image_id = side.minus_image;
