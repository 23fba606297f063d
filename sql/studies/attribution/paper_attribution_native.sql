-- purpose: Single Deletion scores of methods under the native protocol of FunnyBirds
-- grain: one row per study with native targets, method, model and statistic
-- paper: appendix H, table 7
-- Single Deletion is (1 + mean rank correlation) / 2. As the benchmark's authors do, it skips and
-- counts images with constant scores or effects.
CREATE OR REPLACE VIEW paper_attribution_native AS
WITH means AS (
    SELECT study, model_id, method, (1 + avg(rank_correlation)) / 2 AS single_deletion,
        single_deletion AS framework_single_deletion,
        (count(*) - count(rank_correlation))::DOUBLE AS skipped_images
    FROM core_attribution_quality
    WHERE protocol = 'native'
    GROUP BY study, model_id, method
),
estimates AS (
    SELECT means.*, benchmark AS unit, attribution_architecture(architecture, family) AS part,
        CASE WHEN estimate IS NULL THEN 'every image has a constant row'
            WHEN statistic <> 'skipped_images' THEN remark END AS reason
    FROM means
    UNPIVOT INCLUDE NULLS (estimate FOR statistic IN (
        single_deletion, framework_single_deletion, skipped_images
    )) AS means
    JOIN core_attribution_studies AS studies USING (study)
    JOIN stg_models USING (study, run_id, model_id)
    LEFT JOIN core_attribution_remarks USING (study, model_id, method)
    WHERE protocol = 'native'
)
SELECT
    study,
    method,
    model_id,
    statistic,
    estimate, -- share, or count of images
    published, -- framework_single_deletion is from the benchmark's authors
    difference,
    reason
FROM with_published('estimates', 'attribution')
ORDER BY study, method, model_id, statistic DESC;
