-- purpose: mean components of each branch of the gate, which the unconditional means factor into
-- grain: one row per study, model, pair type and path
-- paper: equation 1; appendix B.5
-- evidence = active_frac * active_evidence, fragility = (1 - active_frac) * null_fragility.
CREATE OR REPLACE VIEW out_populations AS
SELECT
    study,
    model_id,
    pair_type,
    path,
    count(*) AS trajectory_count,
    avg(is_endpoint_active::INTEGER) AS active_frac,
    avg(evidence) AS evidence, -- over all trajectories, score units, as all that follow
    avg(contradiction) AS contradiction,
    avg(fragility) AS fragility,
    -- A branch without trajectories has no mean: NULL.
    avg(evidence) FILTER (is_endpoint_active) AS active_evidence,
    avg(contradiction) FILTER (is_endpoint_active) AS active_contradiction,
    avg(fragility) FILTER (NOT is_endpoint_active) AS null_fragility
FROM core_profiles
GROUP BY study, model_id, pair_type, path
ORDER BY study, model_id, pair_type, path;
