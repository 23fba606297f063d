-- purpose: predictions of the current runs on clean images, with the kind of image
-- grain: one row per study, model and image
-- paper: appendix F.2
CREATE OR REPLACE VIEW core_predictions AS
WITH images AS (
    FROM core_input_classes
    SEMI JOIN core_current_runs USING (study, pairs_digest)
)
SELECT
    study,
    run_id,
    model_id,
    image_id,
    variant,
    class_id, -- NULL without labels, or if a change may change the class
    is_factual, -- the factual input of a pair
    class_scores,
    predicted_class,
    predicted_class = class_id AS is_correct,
    -- Lists count from 1. A score without classes is no score of the true class.
    CASE WHEN predicted_class IS NOT NULL THEN class_scores[class_id + 1] END
        AS true_class_score
FROM core_first_predictions
JOIN images USING (study, image_id);
