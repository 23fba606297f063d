-- purpose: model means of any profiles in every bootstrap replicate, and in the sample
-- grain: one row per study, model, pair type, path and replicate; replicate NULL is the sample
-- paper: appendix D.8 (statistical summaries)
-- rel names a relation with the columns of core_profiles, such as some of its rows. All
-- trajectories of a source are drawn together. A mean is a ratio of resampled sums, weighted by
-- pairs, and NULL in a replicate whose drawn sources the model lacks. Draws are of all planned
-- sources and depend only on their number, so differences between models and paths are paired.
CREATE OR REPLACE MACRO bootstrap_means_of(rel, replicates, seed) AS TABLE
WITH gathered AS (
    SELECT
        study, model_id, pair_type, path,
        source_count AS cluster_count,
        list(position::INTEGER) AS positions,
        -- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
        [
            list(weight), list(weight * endpoint_magnitude), list(weight * evidence),
            list(weight * contradiction), list(weight * fragility), list(weight * abs_response),
            list(weight * endpoint_delta)
        ] AS columns
    FROM query_table(rel)
    JOIN core_sources USING (study, pair_type, source_id)
    GROUP BY study, model_id, pair_type, path, source_count
),
resampled AS (
    SELECT
        study, model_id, pair_type, path, list_max(dense_ranks(positions)) + 1 AS source_count,
        resampled_sums(cluster_count, [], replicates, seed, positions, columns) AS sums
    FROM gathered
),
totals AS (
    SELECT
        study, model_id, pair_type, path, source_count,
        nullif(generate_subscripts(sums[1], 1), 1) - 2 AS replicate,
        nullif(unnest(sums[1]), 0) AS weight,
        unnest(sums[2]) AS endpoint_magnitude,
        unnest(sums[3]) AS evidence,
        unnest(sums[4]) AS contradiction,
        unnest(sums[5]) AS fragility,
        unnest(sums[6]) AS abs_response,
        unnest(sums[7]) AS endpoint_delta
    FROM resampled
)
SELECT
    study, model_id, pair_type, path, replicate, source_count,
    COLUMNS([
        'endpoint_magnitude', 'evidence', 'contradiction', 'fragility', 'abs_response',
        'endpoint_delta'
    ]) / weight -- score units
FROM totals;
