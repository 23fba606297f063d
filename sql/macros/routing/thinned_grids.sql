-- purpose: evenly thinned parts of stage grids, with trapezoid weights over all stages
-- grain: one row per distinct list t of rel and number of stages
-- paper: section 3; appendix C.1
-- rel names a relation with a column t. Of nine stages, every second makes five, every fourth
-- three, and every eighth the two ends. Other stages have weight 0.
-- FROM thinned_grids('core_paths')
CREATE OR REPLACE MACRO thinned_grids(rel) AS TABLE
WITH steps AS (
    SELECT t, unnest(list_filter(range(1, len(t)), lambda step: (len(t) - 1) % step = 0)) AS step
    FROM (SELECT DISTINCT t FROM query_table(rel))
),
kept AS (SELECT *, weights_of(list_slice(t, 1, len(t), step)) AS kept FROM steps)
SELECT
    t,
    len(kept) AS stage_count,
    list_transform(t, lambda here, stage:
        CASE WHEN (stage - 1) % step = 0 THEN kept[(stage - 1) // step + 1] ELSE 0 END
    ) AS weights
FROM kept;
