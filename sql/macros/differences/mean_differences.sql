-- purpose: paired difference of the means of two models, or of every model on two paths
-- grain: one row per study, pair type, model and path that both sides share, metric and level
-- paper: appendix D.8 (statistical summaries)
-- side is 'model_id' or 'path'; side_a and side_b are two model ids or two paths. The bootstrap
-- draws sources, the same for both means of a replicate. Means are in score units.
-- FROM mean_differences('path', 'blend', 'patch_a', 500, 91702, [0.9, 0.95])
CREATE OR REPLACE MACRO mean_differences(side, side_a, side_b, replicates, seed, levels) AS TABLE
WITH profiles AS (
    FROM core_profiles WHERE if(side = 'path', path, model_id) IN (side_a, side_b)
),
means AS (FROM bootstrap_means_of('profiles', replicates, seed)),
sides AS MATERIALIZED (
    SELECT
        {
            study: study, pair_type: pair_type, metric: metric,
            model_id: if(side = 'path', model_id, NULL), path: if(side = 'path', NULL, path)
        } AS g,
        if(side = 'path', path, model_id) AS name, replicate, source_count, mean
    FROM by_metric('means')
),
paired AS MATERIALIZED (
    SELECT
        a.g, a.replicate, a.mean AS mean_a, b.mean AS mean_b,
        least(a.source_count, b.source_count) AS source_count
    FROM (FROM sides WHERE name = side_a) AS a
    JOIN (FROM sides WHERE name = side_b) AS b
        ON b.g = a.g AND b.replicate IS NOT DISTINCT FROM a.replicate
),
entries AS (SELECT g, mean_a - mean_b AS value FROM paired WHERE replicate IS NOT NULL)
SELECT
    unnest(g), -- model_id is NULL if models are compared, path if paths are
    level,
    mean_a,
    mean_b,
    mean_a - mean_b AS difference,
    CASE WHEN source_count > 1 THEN COLUMNS(['standard_error', 'lower_limit', 'upper_limit']) END,
    source_count, -- of the side with fewer sources
    replicate_count -- replicates in which both sides have any source
FROM (FROM paired WHERE replicate IS NULL)
JOIN percentile_limits('entries', levels) USING (g);
