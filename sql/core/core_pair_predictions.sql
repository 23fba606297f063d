-- purpose: clean predictions of the current runs on both inputs of every pair
-- grain: one row per study, model and pair
-- paper: appendix F
CREATE OR REPLACE VIEW core_pair_predictions AS
WITH predictions AS MATERIALIZED (FROM core_predictions),
scores AS (
    SELECT
        study, run_id, (score ->> '$.target')::BIGINT AS target,
        if(score ->> '$.direction' = 'decreasing', -1, 1) AS sign
    FROM stg_runs
),
sides AS (
    SELECT
        pair.study,
        plus.run_id,
        plus.model_id,
        pair.pair_id,
        pair.source_id,
        pair.pair_type,
        pair.class_id,
        pair.plus_image,
        plus.predicted_class AS plus_class,
        minus.predicted_class AS minus_class,
        plus.is_correct AS is_plus_correct,
        plus.class_scores AS plus_scores,
        minus.class_scores AS minus_scores,
        -- Lists count from 1; a value without classes is the first, and without labels class 0 is.
        if(plus_class IS NULL, 0, coalesce(score.target, pair.class_id, 0)) + 1 AS place,
        coalesce(score.sign, 1) AS sign
    FROM core_pairs AS pair
    JOIN predictions AS plus
        ON plus.study = pair.study AND plus.image_id = pair.plus_image
    JOIN predictions AS minus
        ON minus.study = pair.study
        AND minus.image_id = pair.minus_image
        AND minus.model_id = plus.model_id
    LEFT JOIN scores AS score ON score.study = plus.study AND score.run_id = plus.run_id
)
SELECT
    * EXCLUDE (plus_scores, minus_scores, place, sign),
    sign * plus_scores[place] AS plus_score, -- q, as trajectories end
    sign * minus_scores[place] AS minus_score,
    len(plus_scores) AS class_count
FROM sides;
