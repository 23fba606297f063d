-- purpose: mean profile of every model, with intervals of Abs, M and the endpoint difference
-- grain: one row per study, model, pair type and path
-- paper: section 6; appendix D.8 (statistical summaries)
-- Has the means of out_model_profiles and some intervals of out_model_intervals, with the same
-- draws, but reads profiles once and makes each draw once.
CREATE OR REPLACE VIEW core_model_summaries AS
WITH stopped AS (SELECT (study, model_id) FROM out_stops),
gathered AS (
    SELECT
        study, model_id, pair_type, path,
        source_count AS cluster_count,
        pair_count_of(pair_id, repetition_count) AS pair_count,
        weighted_mean(is_endpoint_active::INTEGER, weight) AS active_frac,
        weighted_mean(COLUMNS([
            'endpoint_delta', 'endpoint_magnitude', 'evidence', 'contradiction', 'fragility',
            'abs_response'
        ]), weight),
        -- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
        list(core_sources.position::INTEGER) AS positions,
        [
            list(weight), list(weight * abs_response), list(weight * endpoint_delta),
            list(weight * endpoint_magnitude)
        ] AS columns
    FROM core_profiles
    JOIN core_sources USING (study, pair_type, source_id)
    LEFT JOIN core_paths USING (study, path)
    GROUP BY study, model_id, pair_type, path, source_count
),
resampled AS (
    SELECT
        * EXCLUDE (cluster_count, positions, columns),
        list_max(dense_ranks(positions)) + 1 AS source_count,
        source_count > 1 AND (study, model_id) NOT IN (FROM stopped) AS has_interval,
        resampled_sums(cluster_count, [], 500, 91702, positions, columns) AS sums
    FROM gathered
),
drawn AS (
    SELECT
        * EXCLUDE (has_interval, sums),
        sorted_replicates(ratios_of(sums[2], sums[1]), has_interval) AS abs_replicates,
        sorted_replicates(ratios_of(sums[3], sums[1]), has_interval) AS delta_replicates,
        sorted_replicates(ratios_of(sums[4], sums[1]), has_interval) AS magnitude_replicates
    FROM resampled
)
SELECT
    * EXCLUDE (abs_replicates, delta_replicates, magnitude_replicates), -- score units
    limit_at(abs_replicates, (1 - 0.95::DOUBLE) / 2) AS lower_95, -- NULL without an interval
    limit_at(abs_replicates, 1 - (1 - 0.95::DOUBLE) / 2) AS upper_95,
    limit_at(delta_replicates, (1 - 0.95::DOUBLE) / 2) AS delta_lower_95,
    limit_at(delta_replicates, 1 - (1 - 0.95::DOUBLE) / 2) AS delta_upper_95,
    limit_at(magnitude_replicates, (1 - 0.95::DOUBLE) / 2) AS magnitude_lower_95, -- of M
    limit_at(magnitude_replicates, 1 - (1 - 0.95::DOUBLE) / 2) AS magnitude_upper_95
FROM drawn;
