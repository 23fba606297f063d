-- purpose: means of a model on the blend and on patch orders, and on order A and other orders
-- grain: one row per study, pair type, metric, two paths and model that was scored on both
-- paper: section 6.3; appendix G
CREATE OR REPLACE VIEW core_protocol_pairs AS
SELECT
    pair.*,
    first.protocol AS protocol_a, -- blend, or patch for order A
    second.protocol AS protocol_b, -- patch, or random
    second.place AS place_b -- 1 for order A
FROM core_path_pairs AS pair
JOIN core_protocol_paths AS first ON first.study = pair.study AND first.path = pair.path_a
JOIN core_protocol_paths AS second ON second.study = pair.study AND second.path = pair.path_b
WHERE first.place = 1
    AND first.protocol IN ('blend', 'patch')
    AND second.protocol IN ('patch', 'random');
