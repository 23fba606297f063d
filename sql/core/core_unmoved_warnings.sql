-- purpose: warnings about limits that the mean over all pairs keeps, and that over some pairs does not
-- grain: one row per study, model, pair type and warning
-- At least a quarter of the pairs have no response at any stage of any path, and the mean over the
-- other pairs is above a limit that the mean over all pairs keeps. A response up to 1e-9 counts as
-- none, since rounding in batches may cause it. Groups above limits of `expect:` are in findings.
CREATE OR REPLACE VIEW core_unmoved_warnings AS
WITH profiles AS (
    SELECT study, model_id, pair_type, pair_id, path, weight, abs_response, endpoint_magnitude,
        max(greatest(abs_response, endpoint_magnitude))
            OVER (PARTITION BY study, model_id, pair_type, pair_id) > 1e-9 AS is_moved
    FROM core_profiles
    SEMI JOIN core_response_limits USING (study, pair_type)
),
cells AS (
    SELECT
        study, model_id, pair_type, path,
        count(DISTINCT pair_id) AS pair_count,
        count(DISTINCT pair_id) FILTER (NOT is_moved) AS unmoved_count,
        unnest([
            {metric: 'abs_response', mean: weighted_mean(abs_response, weight),
                moved_mean: weighted_mean(CASE WHEN is_moved THEN abs_response END, weight)},
            {metric: 'endpoint_magnitude', mean: weighted_mean(endpoint_magnitude, weight),
                moved_mean: weighted_mean(CASE WHEN is_moved THEN endpoint_magnitude END, weight)}
        ], recursive := true)
    FROM profiles
    GROUP BY study, model_id, pair_type, path
)
SELECT
    cells.study,
    cells.model_id,
    'unmoved_pairs' AS warning,
    NULL::BIGINT AS affected_count,
    format('{:,} of {:,} pairs of {} do not move its score at all; the others move it by {}, '
        || 'above the limit {}: leave out pairs that change only columns that the model does not '
        || 'use', max(unmoved_count), max(pair_count), display_name,
        format_score(max(moved_mean)), format_limit(min(response_limit))) AS detail
FROM cells
JOIN core_response_limits AS limits USING (study, pair_type)
JOIN core_display_names AS names ON (names.study, kind, name) = (study, 'pair_type', pair_type)
WHERE 4 * unmoved_count >= pair_count
    AND mean <= response_limit AND response_limit < moved_mean
    AND cells.model_id = coalesce(limits.model_id, cells.model_id)
    AND cells.path = coalesce(limits.path, cells.path)
    AND cells.metric = coalesce(limits.metric, cells.metric)
GROUP BY cells.study, cells.model_id, cells.pair_type, display_name
UNION ALL
SELECT * EXCLUDE (is_gated) FROM core_group_warnings WHERE is_gated;
