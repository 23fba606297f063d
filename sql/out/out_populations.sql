-- purpose: mean components of active pairs, of inactive pairs, and of all pairs
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
    weighted_mean(is_endpoint_active::INTEGER, weight) AS active_frac,
    weighted_mean(evidence, weight) AS evidence, -- of all pairs; score units
    weighted_mean(contradiction, weight) AS contradiction,
    weighted_mean(fragility, weight) AS fragility,
    -- NULL without active or without inactive trajectories
    weighted_mean(CASE WHEN is_endpoint_active THEN evidence END, weight) AS active_evidence,
    weighted_mean(CASE WHEN is_endpoint_active THEN contradiction END, weight)
        AS active_contradiction,
    weighted_mean(CASE WHEN NOT is_endpoint_active THEN fragility END, weight) AS null_fragility
FROM core_profiles
GROUP BY study, model_id, pair_type, path
ORDER BY study, model_id, pair_type, path;
