-- purpose: rank correlation of models between two paths in replicates that resample sources
-- grain: one row per study, pair type, two paths, replicate and metric
-- paper: section 6.3 (rank transfer); appendix D.8
-- rel names a relation with the columns of bootstrap_means_of.
CREATE OR REPLACE MACRO rank_transfer_replicates(rel) AS TABLE
-- Lists that one GROUP BY makes without ORDER BY hold its rows in the same order.
WITH correlations AS (
    SELECT
        study, pair_type, a.path AS path_a, b.path AS path_b, a.replicate AS replicate,
        rank_correlation(list(a.endpoint_magnitude), list(b.endpoint_magnitude))
            AS endpoint_magnitude,
        rank_correlation(list(a.evidence), list(b.evidence)) AS evidence,
        rank_correlation(list(a.contradiction), list(b.contradiction)) AS contradiction,
        rank_correlation(list(a.fragility), list(b.fragility)) AS fragility,
        rank_correlation(list(a.abs_response), list(b.abs_response)) AS abs_response
    FROM query_table(rel) AS a
    JOIN query_table(rel) AS b USING (study, pair_type, model_id)
    WHERE a.path < b.path AND a.replicate = b.replicate
    GROUP BY study, pair_type, a.path, b.path, a.replicate
)
FROM correlations
UNPIVOT INCLUDE NULLS (value FOR metric IN (
    endpoint_magnitude, evidence, contradiction, fragility, abs_response
));
