-- purpose: model means on the blend beside those on every patch order, and on order A beside others
-- grain: one row per study, pair type, metric, two paths and model that was scored on both
-- paper: section 6.3; appendix G
CREATE OR REPLACE VIEW core_protocol_pairs AS
-- Both sides are read once.
WITH metrics AS MATERIALIZED (FROM core_model_metrics)
SELECT
    first.study,
    a.pair_type,
    a.metric,
    first.path AS path_a,
    first.protocol AS protocol_a, -- blend, or patch for order A
    second.path AS path_b,
    second.protocol AS protocol_b, -- patch, or random
    second.place AS place_b, -- 1 for order A
    a.model_id,
    a.mean AS mean_a, -- score units
    b.mean AS mean_b
FROM core_protocol_paths AS first
JOIN core_protocol_paths AS second
    ON second.study = first.study
    AND second.path <> first.path
    AND first.place = 1
    AND first.protocol IN ('blend', 'patch')
    AND second.protocol IN ('patch', 'random')
JOIN metrics AS a ON a.study = first.study AND a.path = first.path
JOIN metrics AS b
    ON b.study = first.study
    AND b.path = second.path
    AND b.pair_type = a.pair_type
    AND b.metric = a.metric
    AND b.model_id = a.model_id;
