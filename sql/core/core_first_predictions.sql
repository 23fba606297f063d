-- purpose: predictions of the current runs on clean images
-- grain: one row per study, model and image
-- paper: appendix F.2
-- Each block scores its images; of an image in several blocks, the first block counts.
CREATE OR REPLACE VIEW core_first_predictions AS
-- Numbers, since DuckDB compares them faster than keys.
WITH units AS (
    SELECT study, run_id, model_id, unit_key, row_number() OVER (ORDER BY block) AS place
    FROM core_run_units
    WHERE kind = 'predict'
)
SELECT
    study,
    run_id,
    model_id,
    image_id,
    arg_min(prediction.class_scores, place) AS class_scores,
    arg_min(prediction.predicted_class, place) AS predicted_class -- NULL without classes
FROM stg_predictions AS prediction
JOIN units USING (study, model_id, unit_key)
GROUP BY study, run_id, model_id, image_id;
