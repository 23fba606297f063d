-- purpose: Spearman correlation of models between the first Gaussian path and each other one
-- grain: one row per study, Gaussian path and metric
-- paper: appendix E, figure 8c (cross-geometry rank transfer)
-- Means of responses to the floor over all maps and noise seeds. Intervals resample models, 500
-- times with seed 7301.
CREATE OR REPLACE VIEW paper_fragility_transfer AS
WITH means AS (
    SELECT unit.* EXCLUDE (pixel_share, active_frac)
    FROM core_scene_units AS unit
    SEMI JOIN (FROM core_scene_models WHERE experiment = 'fragility') USING (study, model_id)
    WHERE factor = 'floor_hue' AND measure = 'alpha'
),
metrics AS MATERIALIZED (FROM by_metric('means')),
entries AS MATERIALIZED (
    SELECT {study: study, path: other.path, metric: metric} AS g, model_id AS cluster,
        -- Rounded so that equal means are ties.
        round(first.mean, 12) AS x, round(other.mean, 12) AS y
    FROM metrics AS first
    JOIN metrics AS other USING (study, model_id, metric)
    WHERE first.is_primary AND NOT other.is_primary
)
SELECT
    g.study AS study,
    g.path AS path,
    g.metric AS metric,
    entry_count AS model_count,
    estimate, -- -1 to 1
    lower_90, upper_90, lower_95, upper_95,
    NULL::DOUBLE AS published,
    replace(reason, 'cluster', 'model') AS reason
FROM spearman_intervals('entries', 500, 7301)
LEFT JOIN core_scene_paths AS given ON given.study = g.study AND given.path = g.path
ORDER BY g.study, position, metric;
