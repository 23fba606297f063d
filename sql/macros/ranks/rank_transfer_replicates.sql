-- purpose: rank correlation of models between two paths in every replicate
-- grain: one row per study, pair type, two paths, what is resampled, replicate and metric
-- inputs: bootstrap_draws
-- paper: section 6.3 (rank transfer); appendix D.8
-- rel names a relation with the columns of bootstrap_means_of; the sample's means are resampled by
-- model, those of the replicates are resampled by source. A model that is drawn twice is two
-- entries of equal rank.
CREATE OR REPLACE MACRO rank_transfer_replicates(rel, replicates, seed) AS TABLE
WITH sides AS MATERIALIZED (
    SELECT study, pair_type, a.path AS path_a, b.path AS path_b, model_id, a.replicate, a, b
    FROM query_table(rel) AS a
    JOIN query_table(rel) AS b USING (study, pair_type, model_id)
    WHERE a.path < b.path AND a.replicate IS NOT DISTINCT FROM b.replicate
),
places AS (
    SELECT
        * EXCLUDE (replicate),
        row_number() OVER pair_of_paths - 1 AS position,
        count(*) OVER (PARTITION BY study, pair_type, path_a, path_b) AS layout
    FROM sides
    WHERE replicate IS NULL
    WINDOW pair_of_paths AS (PARTITION BY study, pair_type, path_a, path_b ORDER BY model_id)
),
layouts AS (SELECT DISTINCT layout, position, NULL::VARCHAR AS stratum FROM places),
drawn AS (
    SELECT layout, replicate, unnest(positions) AS position
    FROM bootstrap_draws('layouts', replicates, seed)
),
entries AS (
    SELECT study, pair_type, path_a, path_b, 'models' AS resampled, replicate, a, b
    FROM places JOIN drawn USING (layout, position)
    UNION ALL
    SELECT study, pair_type, path_a, path_b, 'sources', replicate, a, b
    FROM sides
    WHERE replicate IS NOT NULL
),
-- Lists that one GROUP BY makes without ORDER BY hold its rows in the same order.
correlations AS (
    SELECT
        study, pair_type, path_a, path_b, resampled, replicate,
        rank_correlation(list(a.endpoint_magnitude), list(b.endpoint_magnitude))
            AS endpoint_magnitude,
        rank_correlation(list(a.evidence), list(b.evidence)) AS evidence,
        rank_correlation(list(a.contradiction), list(b.contradiction)) AS contradiction,
        rank_correlation(list(a.fragility), list(b.fragility)) AS fragility,
        rank_correlation(list(a.abs_response), list(b.abs_response)) AS abs_response
    FROM entries
    GROUP BY study, pair_type, path_a, path_b, resampled, replicate
)
FROM correlations
UNPIVOT INCLUDE NULLS (value FOR metric IN (
    endpoint_magnitude, evidence, contradiction, fragility, abs_response
));
