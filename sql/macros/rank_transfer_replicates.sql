-- purpose: rank correlation of models between two paths in every replicate
-- grain: one row per study, pair type, metric, two paths, what is resampled and replicate
-- inputs: core_path_pairs, bootstrap_clusters, bootstrap_layout_weights, bootstrap_means, spearman
-- paper: section 6.3 (rank transfer); appendix D.8
-- A model that a replicate draws twice is two entries of equal rank.
-- FROM rank_transfer_replicates(500, 91702)
CREATE OR REPLACE MACRO rank_transfer_replicates(replicates, seed) AS TABLE
WITH sides AS (
    SELECT
        {
            study: study, pair_type: pair_type, metric: metric, path_a: path_a, path_b: path_b
        } AS g,
        model_id AS cluster,
        mean_a,
        mean_b
    FROM core_path_pairs
),
places AS MATERIALIZED (FROM bootstrap_clusters('sides')),
layouts AS (SELECT DISTINCT layout, position, block, stratum FROM places),
weights AS (
    SELECT layout, replicate, block * 256 + offset_in_block AS position, weight::BIGINT AS weight
    FROM (
        SELECT
            layout, replicate, block,
            unnest(weights) AS weight,
            generate_subscripts(weights, 1) - 1 AS offset_in_block
        FROM bootstrap_layout_weights('layouts', replicates, seed)
    )
),
means AS (FROM bootstrap_means(replicates, seed)),
by_source AS MATERIALIZED (
    FROM means
    UNPIVOT (mean FOR metric IN (
        endpoint_magnitude, evidence, contradiction, fragility, abs_response
    ))
),
entries AS (
    SELECT g, 'models' AS resampled, replicate, mean_a, mean_b, unnest(range(weight)) AS copy
    FROM sides JOIN places USING (g, cluster) JOIN weights USING (layout, position)
    UNION ALL
    SELECT
        {study: study, pair_type: pair_type, metric: metric, path_a: a.path, path_b: b.path},
        'sources', replicate, a.mean, b.mean, 0
    FROM by_source AS a
    JOIN by_source AS b USING (study, model_id, pair_type, metric, replicate)
    WHERE a.path < b.path
),
ranked AS (
    SELECT
        {g: g, resampled: resampled, replicate: replicate} AS g,
        round(mean_a, 12) AS x, -- equal means stay ties, as in out_rank_transfer
        round(mean_b, 12) AS y
    FROM entries
)
SELECT g.g AS g, g.resampled AS resampled, g.replicate AS replicate, spearman AS value
FROM spearman_by_group('ranked');
