-- purpose: fragility to the floor by variant of the training, for all models and within the gates
-- grain: one row per study, models that count, family (or all) and variant
-- paper: appendix E, figure 8a (intervention separation)
-- The paper compares models that pass the gates. Intervals resample models within each family, 500
-- times with seed 7301.
CREATE OR REPLACE VIEW paper_fragility_variants AS
WITH counted AS (
    SELECT *, unnest(if(passes_gates, ['all', 'within the gates'], ['all'])) AS models
    FROM core_scene_fragility
),
entries AS MATERIALIZED (
    SELECT
        {study: study, models: models, family: unnest([family, 'all']), variant: variant} AS g,
        model_id AS cluster, family AS stratum, fragility AS x
    FROM counted
),
sizes AS (SELECT g, count(x) AS model_count FROM entries GROUP BY g),
judged AS (
    SELECT unnest(g), g.family AS unit, g.variant AS part, 'fragility' AS statistic,
        * EXCLUDE (g, statistic, reason), replace(reason, 'cluster', 'model') AS reason
    FROM bootstrap_intervals('entries', 500, 7301)
    JOIN sizes USING (g)
)
SELECT
    study,
    models, -- all, or those within the gates
    family,
    variant, -- robust, neutral or fragile
    model_count,
    estimate, -- score units
    lower_90, upper_90, lower_95, upper_95,
    published, -- NULL if the paper has no value
    difference,
    reason
FROM with_published('judged', 'scenes')
ORDER BY study, models, family = 'all' DESC, family,
    list_position(['robust', 'neutral', 'fragile'], variant);
