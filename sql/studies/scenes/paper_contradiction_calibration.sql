-- purpose: opposed fraction C / (E + C) of models of the task Invert, next to eta
-- grain: one row per study, family, seed, wall map, eta and statistic
-- paper: section 4 (calibration); appendix E, figure 9d to 9f (calibration and transfer)
-- curve: eta
-- If the swapped context inverts the whole effect, the fraction is eta.
CREATE OR REPLACE VIEW paper_contradiction_calibration AS
SELECT
    study,
    family,
    seed::VARCHAR AS seed,
    wall_map,
    eta,
    unnest(['opposed_fraction', 'calibration_error']) AS statistic,
    unnest([opposed_fraction, opposed_fraction - eta]) AS estimate,
    NULL::DOUBLE AS published,
    NULL::VARCHAR AS reason
FROM core_scene_mixtures
WHERE task = 'invert'
ORDER BY study, eta DESC, family, seed, wall_map, statistic DESC;
