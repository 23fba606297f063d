-- purpose: whether models rank alike under two paths of the protocol, resampling models alone
-- grain: one row per study, pair type, metric and two paths of core_protocol_pairs
-- inputs: core_protocol_pairs, rank_transfer_replicates, spearman, percentile_limits
-- paper: section 6.3 (rank transfer); appendix G
-- Draws are those of out_rank_transfer_intervals, which resamples sources as well and takes longer.
-- FROM rank_transfer_of_models(500, 91702)
CREATE OR REPLACE MACRO rank_transfer_of_models(replicates, seed) AS TABLE
WITH pairs AS MATERIALIZED (FROM core_protocol_pairs),
compared AS (
    SELECT
        {
            study: study, pair_type: pair_type, metric: metric, path_a: path_a, path_b: path_b,
            protocol_a: protocol_a, protocol_b: protocol_b, place_b: place_b
        } AS g,
        -- Sums differ in their last bits: equal means must stay ties.
        round(mean_a, 12) AS x,
        round(mean_b, 12) AS y
    FROM pairs
),
sides AS (
    SELECT study, model_id, pair_type, metric,
        unnest([path_a, path_b]) AS path, round(unnest([mean_a, mean_b]), 12) AS mean
    FROM pairs
),
means AS MATERIALIZED (
    SELECT
        study, model_id, pair_type, path, NULL::BIGINT AS replicate,
        any_value(mean) FILTER (metric = 'endpoint_magnitude') AS endpoint_magnitude,
        any_value(mean) FILTER (metric = 'evidence') AS evidence,
        any_value(mean) FILTER (metric = 'contradiction') AS contradiction,
        any_value(mean) FILTER (metric = 'fragility') AS fragility,
        any_value(mean) FILTER (metric = 'abs_response') AS abs_response
    FROM sides
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
