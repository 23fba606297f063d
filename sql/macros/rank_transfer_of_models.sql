-- purpose: whether models rank alike under two paths of the protocol, resampling models alone
-- grain: one row per study, pair type, metric and two paths of core_protocol_pairs
-- inputs: core_model_metrics, core_protocol_pairs, rank_transfer_replicates, spearman, percentile_limits
-- paper: section 6.3 (rank transfer); appendix G
-- Draws are those of out_rank_transfer_intervals, which resamples sources as well and takes longer.
-- FROM rank_transfer_of_models(500, 91702)
CREATE OR REPLACE MACRO rank_transfer_of_models(replicates, seed) AS TABLE
WITH compared AS MATERIALIZED (
    SELECT
        {
            study: study, pair_type: pair_type, metric: metric, path_a: path_a, path_b: path_b
        } AS g,
        -- Sums differ in their last bits: equal means must stay ties.
        round(mean_a, 12) AS x,
        round(mean_b, 12) AS y
    FROM core_protocol_pairs
),
used AS (
    SELECT DISTINCT g.study AS study, unnest([g.path_a, g.path_b]) AS path FROM compared
),
means AS MATERIALIZED (
    SELECT
        study, model_id, pair_type, path, NULL::BIGINT AS replicate,
        round(any_value(mean) FILTER (metric = 'endpoint_magnitude'), 12) AS endpoint_magnitude,
        round(any_value(mean) FILTER (metric = 'evidence'), 12) AS evidence,
        round(any_value(mean) FILTER (metric = 'contradiction'), 12) AS contradiction,
        round(any_value(mean) FILTER (metric = 'fragility'), 12) AS fragility,
        round(any_value(mean) FILTER (metric = 'abs_response'), 12) AS abs_response
    FROM core_model_metrics SEMI JOIN used USING (study, path)
    GROUP BY study, model_id, pair_type, path
),
resampled AS MATERIALIZED (
    SELECT
        {
            study: study, pair_type: pair_type, metric: metric, path_a: path_a, path_b: path_b
        } AS g,
        value
    FROM rank_transfer_replicates('means', replicates, seed)
),
limits AS (FROM percentile_limits('resampled', [0.9, 0.95]))
SELECT
    unnest(samples.g),
    any_value(spearman) AS spearman, -- NULL for the reason given, and then without an interval
    any_value(lower_limit) FILTER (level = 0.9 AND spearman IS NOT NULL) AS lower_90,
    any_value(upper_limit) FILTER (level = 0.9 AND spearman IS NOT NULL) AS upper_90,
    any_value(lower_limit) FILTER (level = 0.95 AND spearman IS NOT NULL) AS lower_95,
    any_value(upper_limit) FILTER (level = 0.95 AND spearman IS NOT NULL) AS upper_95,
    any_value(reason) AS reason
FROM spearman_by_group('compared') AS samples
LEFT JOIN limits -- has either pair of paths once, in the order of the alphabet
    ON limits.g.study = samples.g.study
    AND limits.g.pair_type = samples.g.pair_type
    AND limits.g.metric = samples.g.metric
    AND limits.g.path_a = least(samples.g.path_a, samples.g.path_b)
    AND limits.g.path_b = greatest(samples.g.path_a, samples.g.path_b)
GROUP BY samples.g;
