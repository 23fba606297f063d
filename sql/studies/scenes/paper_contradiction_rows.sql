-- purpose: contradiction, Abs and label swaps of every model in the channel
-- grain: one row per study, model, wall map, eta and statistic
-- paper: section 5, figure 2d (label-level reversal); appendix E, figure 9c
-- curve: eta
CREATE OR REPLACE VIEW paper_contradiction_rows AS
SELECT
    study,
    model_id,
    task, -- direct, gate or invert
    wall_map,
    eta,
    statistic,
    estimate, -- score units; swap_share is a share of pairs
    NULL::DOUBLE AS published,
    NULL::VARCHAR AS reason
FROM core_scene_mixtures
UNPIVOT (estimate FOR statistic IN (swap_share, contradiction, abs_response))
ORDER BY study, eta DESC, task, model_id, wall_map,
    list_position(['swap_share', 'contradiction', 'abs_response'], statistic);
