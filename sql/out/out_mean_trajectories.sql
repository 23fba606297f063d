-- purpose: mean response and components along the path
-- grain: one row per study, model, pair type, path and stage
-- paper: sections 3 and 5
CREATE OR REPLACE VIEW out_mean_trajectories AS
SELECT
    study,
    model_id,
    pair_type,
    path,
    stage, -- from 0
    t,
    count(*) AS trajectory_count,
    -- With the sign of d; over active trajectories, NULL without any.
    weighted_mean(CASE WHEN is_endpoint_active THEN sign(endpoint_delta) * response END, weight)
        AS mean_response,
    weighted_mean(evidence, weight) AS evidence, -- over all trajectories, score units
    weighted_mean(contradiction, weight) AS contradiction,
    weighted_mean(fragility, weight) AS fragility
FROM core_stages
GROUP BY study, model_id, pair_type, path, stage, t
ORDER BY study, model_id, pair_type, path, stage, t;
