-- purpose: profiles of two versions, in groups to resample
-- grain: one row per entry of rel and measured subject
-- paper: section 6.3 (ratios of means)
-- rel is as for drift_pairs. positions are the sources of trajectories, and columns has lists of
-- weighted numbers per trajectory. A metric is the ratio of the sums of two columns: ratio names
-- those of the version, ratio_before those of the version before.
CREATE OR REPLACE MACRO drift_trajectory_groups(rel) AS TABLE
WITH trajectories AS (
    SELECT
        {
            study: study, reaudit_id: reaudit_id, entry: entry, against: against,
            pair_type: pair_type, path: path, variant: NULL::VARCHAR
        } AS g,
        study,
        source_id,
        weight,
        weight * COLUMNS('(magnitude|evidence|contradiction|fragility|response|active)(_before)?$')::DOUBLE
    FROM drift_pairs(rel)
),
gathered AS (
    SELECT
        g,
        -- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
        dense_ranks(list(place)) AS positions,
        [
            list(weight),
            list(endpoint_magnitude), list(endpoint_magnitude_before),
            list(evidence), list(evidence_before),
            list(contradiction), list(contradiction_before),
            list(fragility), list(fragility_before),
            list(abs_response), list(abs_response_before),
            list(is_endpoint_active), list(is_endpoint_active_before)
        ] AS columns
    FROM trajectories
    JOIN core_source_order USING (study, source_id)
    GROUP BY g
)
SELECT
    g,
    list_max(positions) + 1 AS source_count,
    positions,
    columns,
    [
        {metric: 'endpoint_magnitude', ratio: [2, 1], ratio_before: [3, 1]},
        {metric: 'evidence', ratio: [4, 1], ratio_before: [5, 1]},
        {metric: 'contradiction', ratio: [6, 1], ratio_before: [7, 1]},
        {metric: 'fragility', ratio: [8, 1], ratio_before: [9, 1]},
        {metric: 'abs_response', ratio: [10, 1], ratio_before: [11, 1]},
        {metric: 'active_frac', ratio: [12, 1], ratio_before: [13, 1]},
        {metric: 'evidence_frac', ratio: [4, 10], ratio_before: [5, 11]},
        {metric: 'contradiction_frac', ratio: [6, 10], ratio_before: [7, 11]},
        {metric: 'fragility_frac', ratio: [8, 10], ratio_before: [9, 11]}
    ] AS metrics
FROM gathered;
