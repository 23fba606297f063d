-- purpose: rank correlation of models between two reveal paths
-- grain: one row per study, pair type, metric and two paths
-- paper: section 6.3 (rank transfer)
CREATE OR REPLACE VIEW out_rank_transfer AS
WITH paired AS (
    SELECT
        {
            study: study, pair_type: pair_type, metric: metric, path_a: path_a, path_b: path_b
        } AS g,
        -- Rounded so that equal means are ties: the last bits of sums vary between queries.
        round(mean_a, 12) AS x,
        round(mean_b, 12) AS y
    FROM core_path_pairs
    WHERE path_a < path_b
)
SELECT
    unnest(g),
    entry_count AS model_count,
    spearman, -- NULL for the reason given
    reason
FROM spearman_by_group('paired')
ORDER BY g.study, g.pair_type, g.metric, g.path_a, g.path_b;
