-- purpose: clean predictions of the current runs on both inputs of every pair
-- grain: one row per study, model and pair
-- paper: appendix F
CREATE OR REPLACE VIEW core_pair_predictions AS
WITH predictions AS MATERIALIZED (FROM core_predictions)
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
    plus.true_class_score AS plus_score, -- of the pair's own class, whatever target the score has
    minus.true_class_score AS minus_score, -- of the same class
    len(plus.class_scores) AS class_count
FROM core_pairs AS pair
JOIN predictions AS plus
    ON plus.study = pair.study AND plus.image_id = pair.plus_image
JOIN predictions AS minus
    ON minus.study = pair.study
    AND minus.image_id = pair.minus_image
    AND minus.model_id = plus.model_id;
