-- purpose: leave one group out: every row as training or test row, standardised for its fold
-- grain: one row per held-out group and row of rel
-- inputs: held_out_scales
-- paper: section 6.2 (leave-one-family-out probes)
-- rel is as for held_out_scales; its other columns are kept. held_out_folds says which folds are
-- defined.
-- FROM held_out_units('my_units')
CREATE OR REPLACE MACRO held_out_units(rel) AS TABLE
WITH scales AS (
    SELECT
        held_out,
        list(mean ORDER BY feature) AS means,
        list(scale ORDER BY feature) AS scales
    FROM held_out_scales(rel)
    GROUP BY held_out
)
SELECT
    held_out,
    units.g IS NOT DISTINCT FROM held_out AS is_test,
    units.* EXCLUDE (features),
    -- Mean 0 and deviation 1 over the training rows of the fold; NULL where it is missing.
    list_transform(
        features::DOUBLE[],
        lambda x, place: CASE WHEN NOT isnan(x) THEN (x - means[place]) / scales[place] END
    ) AS features
FROM query_table(rel) AS units
CROSS JOIN scales;
