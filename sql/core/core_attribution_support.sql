-- purpose: images in the comparison of attribution methods, and why other images are left out
-- grain: one row per study, model, protocol and image
-- paper: appendix H (protocol and strict common support)
CREATE OR REPLACE VIEW core_attribution_support AS
WITH images AS (
    SELECT study, run_id, protocol, image_id, count(DISTINCT feature) AS feature_count
    FROM core_attribution_pairs
    WHERE protocol IS NOT NULL
    GROUP BY study, run_id, protocol, image_id
),
planned AS (
    SELECT study, list(method ORDER BY stage_count DESC, method) AS methods
    FROM core_attribution_methods
    GROUP BY study
),
complete AS (
    SELECT study, model_id, protocol, image_id, list(method) AS methods
    FROM core_attribution_quality
    GROUP BY study, model_id, protocol, image_id
),
found AS (
    SELECT
        study, model_id, protocol, image_id, feature_count, is_correct,
        predicted.image_id IS NOT NULL AS is_predicted,
        list_filter(planned.methods, lambda method:
            NOT coalesce(list_contains(complete.methods, method), false)) AS incomplete
    FROM images
    JOIN stg_models USING (study, run_id)
    JOIN planned USING (study)
    LEFT JOIN core_predictions AS predicted USING (study, run_id, model_id, image_id)
    LEFT JOIN complete USING (study, model_id, protocol, image_id)
)
SELECT
    study, model_id, protocol, image_id, feature_count,
    is_correct, -- NULL without labels; the image stays in
    incomplete AS incomplete_methods, -- methods that are not complete on the image
    CASE
        WHEN feature_count < 2 THEN 'fewer than two features'
        WHEN NOT is_predicted THEN 'not predicted yet'
        WHEN NOT is_correct THEN 'wrong class'
        WHEN len(incomplete) > 0 THEN 'incomplete: ' || array_to_string(incomplete, ', ')
    END AS reason, -- why the image is left out; else NULL
    reason IS NULL AS is_supported
FROM found;
