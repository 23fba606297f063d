-- purpose: sums of each replicate and quantiles over trajectories, by member of a grouping
-- grain: one row per study, model, pair type, path, grouping and member
-- paper: appendix D.8 (statistical summaries)
-- rel names a relation with these columns, place, pair_place, weight and eight metrics. The
-- bootstrap draws the sources of a member, in the order of their names. One pass over the rows
-- gives all numbers.
CREATE OR REPLACE MACRO breakdown_sums(rel, replicates, seed) AS TABLE
WITH gathered AS (
    SELECT
        study, model_id, pair_type, path, grouping, member,
        -- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
        dense_ranks(list(place)) AS positions,
        [
            list(weight), list(weight * evidence), list(weight * contradiction),
            list(weight * fragility), list(weight * abs_response),
            list(weight * endpoint_magnitude), list(weight * endpoint_delta),
            list(weight * active_frac), list(weight * coalesce(accuracy, 0)),
            list(if(accuracy IS NULL, 0, weight)) -- of pairs with a known class
        ] AS columns,
        list_max(dense_ranks(list(pair_place))) + 1 AS pair_count,
        list_unique(list(place) FILTER (WHERE accuracy IS NOT NULL)) AS answered_count,
        quantile_cont(
            COLUMNS([
                'evidence', 'contradiction', 'fragility', 'abs_response', 'endpoint_magnitude',
                'endpoint_delta', 'active_frac', 'accuracy'
            ]),
            [0.1, 0.5, 0.9]
        )
    FROM query_table(rel)
    GROUP BY study, model_id, pair_type, path, grouping, member
)
SELECT
    * EXCLUDE (positions, columns),
    list_max(positions) + 1 AS source_count,
    -- The weights, then the metrics as they are listed above; the sample before replicates.
    resampled_sums(list_max(positions) + 1, [], replicates, seed, positions, columns) AS sums
FROM gathered;
