-- purpose: predictions of the current runs on clean images, with the kind of image
-- grain: one row per study, model and image
-- paper: appendix F.2
-- A pair has the class of its factual input. A change that should matter may change the class, so an
-- input that is only the counterfactual of such pairs has no known class.
CREATE OR REPLACE VIEW core_predictions AS
WITH sides AS (
    SELECT
        pair.study,
        unnest([class_id, if(expect = 'should_matter', NULL, class_id)]) AS class_id,
        unnest([plus_image, minus_image]) AS image_id,
        unnest([plus_variant, minus_variant]) AS variant,
        unnest([true, false]) AS is_factual
    FROM core_pairs AS pair
    LEFT JOIN core_display_names AS names
        ON names.study = pair.study AND kind = 'pair_type' AND name = pair_type
),
images AS (
    SELECT study, image_id,
        min(variant) AS variant,
        coalesce(min(class_id) FILTER (is_factual), min(class_id)) AS class_id,
        bool_or(is_factual) AS is_factual
    FROM sides
    GROUP BY study, image_id
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
