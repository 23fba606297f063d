-- purpose: largest change of means if each trajectory near a threshold were on the other side
-- grain: one row per study, model, pair type and path
-- paper: appendix B.8 (threshold stability)
-- at_epsilon and tolerance are as for threshold_flips.
-- FROM threshold_bounds(0.02, 1e-6)
CREATE OR REPLACE MACRO threshold_bounds(at_epsilon, tolerance) AS TABLE
WITH flips AS (
    SELECT study, model_id, pair_type, path,
        count(*) AS flip_count,
        sum(weight) AS flip_weight,
        sum(weight * greatest(fragility, other_fragility)) AS flipping_mass
    FROM threshold_flips(at_epsilon, tolerance)
    GROUP BY study, model_id, pair_type, path
),
cells AS (
    SELECT study, model_id, pair_type, path,
        count(*) AS trajectory_count,
        sum(weight) AS weight,
        max(abs_response) AS largest_abs
    FROM core_profiles
    GROUP BY study, model_id, pair_type, path
)
SELECT
    study,
    model_id,
    pair_type,
    path,
    trajectory_count,
    coalesce(flip_count, 0) AS flip_count,
    coalesce(flip_count, 0) / trajectory_count AS flip_frac,
    -- Largest change of a mean component: Abs of the flips over all trajectories, score units.
    coalesce(flipping_mass, 0) / weight AS largest_change,
    largest_abs * coalesce(flip_weight, 0) / weight AS bound -- the bound in the paper
FROM cells
LEFT JOIN flips USING (study, model_id, pair_type, path);
