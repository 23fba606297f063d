-- purpose: composition of the response of every model to every factor
-- grain: one row per study of the base suite, task, factor, family, seed and statistic
-- paper: appendix E (complete decomposition atlas), figure 6
-- A unit is null where less than 1 % of its endpoint pairs are active, supported above 10 %. Shares
-- are of Abs, of the means over pairs, maps and noise seeds on the study's first Gaussian path.
CREATE OR REPLACE VIEW paper_base_atlas AS
WITH units AS (FROM scene_classes(0.01, 0.1) WHERE is_primary AND measure = 'alpha'),
estimates AS (
    SELECT *, model_id AS unit, factor AS part
    FROM units
    UNPIVOT (estimate FOR statistic IN (
        evidence_share, contradiction_share, fragility_share, abs_response, endpoint_magnitude,
        active_frac
    ))
)
SELECT
    study,
    task,
    factor,
    family,
    seed,
    class, -- supported, null or intermediate
    is_intended, -- whether the label of the task depends on the factor
    statistic,
    estimate, -- shares, and score units
    published, -- NULL where the authors give none
    difference,
    reason
FROM with_published('estimates', 'scenes')
ORDER BY study,
    list_position(
        ['object_color', 'wall_color', 'object_shape', 'color_shape_xor', 'context_gate'], task
    ),
    list_position(
        ['floor_hue', 'wall_hue', 'object_hue', 'size', 'shape', 'orientation'], factor
    ),
    family, seed, statistic;
