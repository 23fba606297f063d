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
    -- Oriented by the final contrast; over endpoint-active trajectories, NULL without any.
    avg(sign(endpoint_delta) * response) FILTER (WHERE is_endpoint_active) AS mean_response,
    avg(evidence) AS evidence, -- over all trajectories, score units
    avg(contradiction) AS contradiction,
    avg(fragility) AS fragility
FROM core_stages
GROUP BY study, model_id, pair_type, path, stage, t
ORDER BY study, model_id, pair_type, path, stage, t;
