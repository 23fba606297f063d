-- purpose: benchmark of the paper with which a study of attribution methods is compared
-- grain: one row per study and protocol
-- paper: section 7; appendix H
-- The data set is imagenet if image_features has a grid and the score 1,000 classes, otherwise the
-- name of the adapter. The data set and the id of a model determine the draws of the bootstrap.
CREATE OR REPLACE VIEW core_attribution_studies AS
WITH counted AS (
    SELECT study, run_id, protocol, count(DISTINCT image_id) AS image_count
    FROM core_attribution_pairs
    WHERE protocol IS NOT NULL
    GROUP BY study, run_id, protocol
),
zoo AS (
    SELECT study, run_id, count(*) AS model_count,
        list(DISTINCT attribution_architecture(architecture, family)) AS architectures
    FROM stg_models
    GROUP BY study, run_id
),
given AS (
    SELECT study, run_id, config ->> '$.data.adapter' AS adapter,
        if(adapter = 'image_features' AND config ->> '$.data.features.kind' = 'grid'
            AND (config ->> '$.score.classes')::BIGINT = 1000, 'imagenet', adapter) AS dataset
    FROM stg_runs
)
SELECT
    study, run_id, protocol, dataset, image_count, model_count,
    CASE
        WHEN dataset = 'imagenet' AND image_count > 10000 THEN 'imagenet_full'
        WHEN dataset = 'partimagenet' AND architectures = ['dinov2_vitg14'] THEN 'dinov2'
        WHEN protocol = 'native' THEN dataset || '_native'
        ELSE dataset
    END AS benchmark -- unit of the published values
FROM counted
JOIN given USING (study, run_id)
JOIN zoo USING (study, run_id);
