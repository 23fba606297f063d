-- purpose: shares of components of every model and factor
-- grain: one row per study of the base suite, task, factor, family, seed and statistic
-- paper: appendix E (complete decomposition atlas), figure 6
-- A model and factor are null if less than 1 % of their endpoint pairs are active, and supported
-- above 10 %. Shares are those of Abs on the study's first Gaussian path.
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
    is_intended, -- the label of the task depends on the factor
    statistic,
    estimate, -- share, or score units
    published, -- NULL if the authors give no value
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
