-- purpose: Gaussian reveal paths of the controlled studies, and their stage measures
-- grain: one row per study of scenes and path of kind gaussian
-- paper: appendix D (primary reveal protocol; alternative protocols)
-- The first path is the primary protocol; its name does not matter.
CREATE OR REPLACE VIEW core_scene_paths AS
WITH fitted AS (
    SELECT unit.study, unit.name AS path,
        any_value(from_json(made.outcome -> '$.information_weights', '["DOUBLE"]')) AS weights
    FROM core_run_units AS unit
    JOIN stg_made_files AS made USING (study, unit_key)
    WHERE unit.kind = 'fit'
    GROUP BY unit.study, unit.name
)
SELECT
    study,
    path,
    position, -- order in the configuration, from 0
    position = min(position) OVER (PARTITION BY study) AS is_primary,
    identity ->> '$.geometry' AS geometry, -- cmmr, pixel, diagonal, power or linear
    -- lambda of the covariance interpolation: 0 is cmmr, 1 is pixel; NULL for paths outside the
    -- family.
    CASE
        WHEN identity ->> '$.chain' = 'reverse_markov' THEN NULL
        WHEN geometry = 'cmmr' THEN 0
        WHEN geometry = 'pixel' THEN 1
        ELSE (identity ->> '$.share')::DOUBLE
    END AS pixel_share,
    weights AS information_weights -- one per stage, with sum 1; NULL if none are stored
FROM core_paths
SEMI JOIN core_scene_models USING (study)
LEFT JOIN fitted USING (study, path)
WHERE kind = 'gaussian';
