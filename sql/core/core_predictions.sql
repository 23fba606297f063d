-- purpose: predictions of the current runs on clean images, with the kind of image
-- grain: one row per study, model and image
-- paper: appendix F.2
CREATE OR REPLACE VIEW core_predictions AS
WITH images AS (
    FROM core_input_classes
    SEMI JOIN core_current_runs USING (study, pairs_digest)
),
-- Places are compared sooner than keys.
units AS (
    SELECT study, run_id, model_id, unit_key, row_number() OVER (ORDER BY block) AS place
    FROM core_run_units
    WHERE kind = 'predict'
),
-- An image that several blocks share was scored with each of them.
firsts AS (
    SELECT
        study, run_id, model_id, image_id,
        arg_min(prediction.class_scores, place) AS class_scores,
        arg_min(prediction.predicted_class, place) AS predicted_class
    FROM stg_predictions AS prediction
    JOIN units USING (study, model_id, unit_key)
    GROUP BY study, run_id, model_id, image_id
)
SELECT
    study,
    run_id,
    model_id,
    image_id,
    variant,
    class_id, -- NULL without labels, and where a change may change the class
    is_factual, -- of some pair
    class_scores,
    predicted_class,
    predicted_class = class_id AS is_correct,
    -- Lists count from 1; a value without classes is no score of the true one.
    CASE WHEN predicted_class IS NOT NULL THEN class_scores[class_id + 1] END
        AS true_class_score
FROM firsts
JOIN images USING (study, image_id);
