-- purpose: predictions of a version of an entry on clean images, next to those of the version
--   before it
-- grain: one row per entry of rel and clean image of the version
-- paper: appendix F.2
-- rel is as for drift_pairs. Images without a predicted or a known class are left out.
-- FROM version_images('core_entry_versions')
CREATE OR REPLACE MACRO version_images(rel) AS TABLE
WITH versions AS MATERIALIZED (FROM query_table(rel)),
-- Numbers, since DuckDB compares them faster than keys.
units AS (
    SELECT study, run_id, model_id, unit_key, row_number() OVER (ORDER BY block) AS place
    FROM stg_run_units
    WHERE kind = 'predict' AND (study, run_id, model_id) IN (FROM drift_runs('versions'))
),
predicted AS MATERIALIZED (
    SELECT
        study, run_id, model_id, image_id,
        arg_min(prediction.predicted_class, place) AS predicted_class
    FROM stg_predictions AS prediction
    JOIN units USING (study, model_id, unit_key)
    GROUP BY study, run_id, model_id, image_id
),
after AS (
    SELECT version.*, run.pairs_digest, image_id, predicted_class
    FROM predicted
    JOIN versions AS version USING (study, run_id, model_id)
    JOIN stg_runs AS run USING (study, run_id)
    WHERE predicted_class IS NOT NULL
)
SELECT
    after.study, after.reaudit_id, after.entry, after.against, after.image_id,
    image.source_id,
    image.variant,
    (after.predicted_class = image.class_id)::DOUBLE AS is_correct,
    CASE WHEN after.reason IS NULL THEN (before.predicted_class = image.class_id)::DOUBLE
    END AS was_correct, -- NULL without a comparison
    after.reason -- why there is no comparison
FROM after
JOIN core_input_classes AS image USING (study, pairs_digest, image_id)
LEFT JOIN predicted AS before
    ON before.study = after.study
    AND before.run_id = after.run_before
    AND before.model_id = after.model_before
    AND before.image_id = after.image_id
WHERE image.class_id IS NOT NULL;
