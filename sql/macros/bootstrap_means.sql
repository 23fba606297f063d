-- purpose: model means in every bootstrap replicate; differences between them are paired
-- grain: one row per study, model, pair type, path and replicate
-- inputs: core_source_sums, bootstrap_weights
-- paper: appendix D.8 (statistical summaries)
-- All trajectories of a source are drawn together, so that a mean is a ratio of resampled sums;
-- it is NULL where a replicate drew only sources that the model lacks.
-- FROM bootstrap_means(500, 91702)
CREATE OR REPLACE MACRO bootstrap_means(replicates, seed) AS TABLE
WITH totals AS (
    SELECT
        study,
        model_id,
        pair_type,
        path,
        replicate,
        nullif(sum(list_inner_product(row_counts, weights)), 0) AS row_count,
        sum(list_inner_product(endpoint_magnitude, weights)) AS endpoint_magnitude,
        sum(list_inner_product(evidence, weights)) AS evidence,
        sum(list_inner_product(contradiction, weights)) AS contradiction,
        sum(list_inner_product(fragility, weights)) AS fragility,
        sum(list_inner_product(abs_response, weights)) AS abs_response
    FROM core_source_sums
    JOIN bootstrap_weights(replicates, seed) USING (study, pair_type, block)
    GROUP BY study, model_id, pair_type, path, replicate
)
SELECT
    study,
    model_id,
    pair_type,
    path,
    replicate,
    endpoint_magnitude / row_count AS endpoint_magnitude, -- score units, as all
    evidence / row_count AS evidence,
    contradiction / row_count AS contradiction,
    fragility / row_count AS fragility,
    abs_response / row_count AS abs_response
FROM totals;
