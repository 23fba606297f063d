-- purpose: Spearman correlation of fragility with label changes along the path, over models
-- grain: one row per study, models that count and behaviour
-- paper: section 5, figure 2c (endpoint-null sensitivity)
-- Fragility and behaviour have different floor maps and noise seeds. Intervals resample models, 500
-- times with seed 7301.
CREATE OR REPLACE VIEW paper_fragility_correlations AS
WITH counted AS (
    SELECT *, unnest(if(passes_gates, ['all', 'within the gates'], ['all'])) AS models
    FROM core_scene_fragility
),
entries AS MATERIALIZED (
    SELECT {study: study, models: models, behaviour: behaviour} AS g, model_id AS cluster,
        -- Rounded so that equal means are ties.
        round(fragility, 12) AS x, round(value, 12) AS y
    FROM counted
    UNPIVOT INCLUDE NULLS (value FOR behaviour IN (
        null_prediction_change_rate, confidence_fragility
    ))
)
SELECT
    g.study AS study,
    g.models AS models, -- all, or those within the gates
    g.behaviour AS behaviour,
    entry_count AS model_count,
    estimate, -- -1 to 1
    lower_90, upper_90, lower_95, upper_95,
    NULL::DOUBLE AS published,
    replace(reason, 'cluster', 'model') AS reason
FROM spearman_intervals('entries', 500, 7301)
ORDER BY study, models, behaviour DESC;
