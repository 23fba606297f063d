-- purpose: nearly equal M, different roles: object shape and floor colour in models of the shape
-- grain: one row per study of the base suite, stage measure, factor and metric
-- paper: appendix E (matched-magnitude response roles), figure 5a
-- Means over models of the task object_shape on the study's first Gaussian path. The paper does not
-- say whether it integrates over alpha or over common information, so its values are next to both.
-- Intervals resample models within a family.
CREATE OR REPLACE VIEW paper_base_overview AS
WITH units AS (
    SELECT study, model_id, stratum, factor, measure, evidence, contradiction, fragility, abs_response
    FROM scene_classes(0.01, 0.1)
    WHERE is_primary AND task = 'object_shape' AND factor IN ('shape', 'floor_hue')
),
entries AS MATERIALIZED (
    SELECT {study: study, measure: measure, factor: factor, metric: metric} AS g,
        model_id AS cluster, stratum, x
    FROM units
    UNPIVOT (x FOR metric IN (evidence, contradiction, fragility, abs_response))
),
estimates AS (
    SELECT unnest(g), * EXCLUDE (g, statistic, reason), g.factor AS unit, g.metric AS statistic,
        replace(reason, 'cluster', 'model') AS reason
    FROM bootstrap_intervals('entries', 500, 7301)
    WHERE statistic = 'mean'
)
SELECT
    study,
    measure, -- of the stages: alpha, or common information
    factor,
    metric,
    estimate, -- score units
    lower_90, upper_90, lower_95, upper_95,
    published, -- NULL if the paper has no value
    difference,
    reason
FROM with_published('estimates', 'scenes')
ORDER BY study, measure, factor = 'floor_hue',
    list_position(['evidence', 'contradiction', 'fragility', 'abs_response'], metric);
