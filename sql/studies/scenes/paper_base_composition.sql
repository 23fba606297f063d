-- purpose: mean shares of components, by class of models and factors
-- grain: one row per study of the base suite, class and statistic
-- paper: appendix E (complete decomposition atlas)
-- Means of shares of Abs over models and factors of a class (scene_classes). Intervals resample
-- models within a task and family, which differ in their seeds.
CREATE OR REPLACE VIEW paper_base_composition AS
WITH units AS MATERIALIZED (
    FROM scene_classes(0.01, 0.1)
    WHERE is_primary AND measure = 'alpha' AND class IS NOT NULL
),
entries AS (
    SELECT {study: study, class: class, statistic: statistic} AS g, model_id AS cluster, stratum, x
    FROM units
    UNPIVOT (x FOR statistic IN (evidence_share, contradiction_share, fragility_share))
),
estimates AS (
    SELECT unnest(g), * EXCLUDE (g, statistic, reason), g.class AS unit,
        replace(reason, 'cluster', 'model') AS reason
    FROM bootstrap_intervals('entries', 500, 7301)
    WHERE statistic = 'mean'
    UNION ALL BY NAME
    SELECT study, class, 'units' AS statistic, count(*) AS estimate, class AS unit
    FROM units
    GROUP BY study, class
)
SELECT
    study, class, statistic,
    estimate, -- share of Abs, or count
    lower_90, upper_90, lower_95, upper_95,
    published, -- NULL if the paper has no value
    difference, reason
FROM with_published('estimates', 'scenes')
ORDER BY study, list_position(['supported', 'intermediate', 'null'], class),
    statistic <> 'units', statistic;
