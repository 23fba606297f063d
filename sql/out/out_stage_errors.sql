-- purpose: change of the mean components when every second stage is left out
-- grain: one row per study, model, pair type, path and metric, of paths with an odd number of stages
-- paper: section 3; appendix C.1; appendix D.8 (statistical summaries)
-- change is the mean over all stages less that over every second one, with its interval; mean_size
-- is the mean size of the change of a trajectory. docs/limits.md says how well they bound errors.
CREATE OR REPLACE VIEW out_stage_errors AS
WITH changes AS (
    SELECT
        study, model_id, pair_type, path, stage_count, source_id, weight,
        unnest([
            {metric: 'evidence', change: evidence},
            {metric: 'contradiction', change: contradiction},
            {metric: 'fragility', change: fragility},
            {metric: 'abs_response', change: abs_response}
        ], recursive := true)
    FROM core_stage_errors
),
entries AS (
    SELECT
        {
            study: study, model_id: model_id, pair_type: pair_type, path: path, metric: metric,
            stage_count: stage_count
        } AS g,
        source_id AS cluster, change AS x, weight
    FROM changes
),
sizes AS (
    SELECT g, count(*) AS trajectory_count, weighted_mean(abs(x), weight) AS mean_size
    FROM entries
    GROUP BY g
)
SELECT
    g.study, g.model_id, g.pair_type, g.path, g.metric,
    g.stage_count, -- all stages
    sizes.trajectory_count,
    means.estimate AS change, -- score units, as what follows
    means.lower_limit AS lower_95, -- NULL for a single source
    means.upper_limit AS upper_95,
    sizes.mean_size
FROM sizes
JOIN bootstrap_by_group('entries', 500, 91702, [0.95]) AS means USING (g)
ORDER BY ALL;
