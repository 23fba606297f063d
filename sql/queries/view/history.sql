-- purpose: responses of an entry at its last 5 versions, score units, the newest version first
-- As history_of, from 500 replicates of the same draws, but without comparisons of versions, which
-- take most of its time. Only Abs has an interval: it has the only whisker that is drawn.
WITH points AS (
    SELECT entry.study, entry.run_id, entry.model_id, resolved_at, version
    FROM stg_registry_entries AS entry
    WHERE study = $study AND entry = $entry AND change <> 'none' AND state = 'audited'
    QUALIFY row_number() OVER (PARTITION BY version ORDER BY resolved_at DESC) = 1
    ORDER BY resolved_at DESC
    LIMIT 5
),
gathered AS (
    SELECT
        study, run_id, model_id, pair_type, path,
        weighted_mean(COLUMNS([
            'evidence', 'contradiction', 'fragility', 'abs_response', 'endpoint_magnitude'
        ]), weight),
        -- All lists of one GROUP BY have the same order of rows, even without ORDER BY.
        dense_ranks(list(place)) AS positions,
        [list(weight), list(weight * abs_response)] AS columns
    FROM core_run_profiles
    JOIN core_source_order USING (study, source_id)
    WHERE (study, run_id, model_id) IN (SELECT (study, run_id, model_id) FROM points)
    GROUP BY study, run_id, model_id, pair_type, path
),
resampled AS (
    SELECT
        * EXCLUDE (positions, columns),
        list_max(positions) + 1 AS source_count,
        resampled_sums(source_count, [], 500, 91702, positions, columns) AS sums
    FROM gathered
),
drawn AS (
    SELECT
        * EXCLUDE (source_count, sums),
        sorted_replicates(
            ratios_of(sums[2], sums[1]),
            source_count > 1 AND (study, run_id, model_id) NOT IN (
                SELECT (study, run_id, model_id) FROM stg_run_stops
            )
        ) AS replicates
    FROM resampled
)
SELECT
    points.version,
    drawn.* EXCLUDE (study, run_id, model_id, replicates),
    limit_at(replicates, (1 - 0.95::DOUBLE) / 2) AS lower_95,
    limit_at(replicates, 1 - (1 - 0.95::DOUBLE) / 2) AS upper_95,
    NULL AS safe_limit,
    NULL AS wanted_limit
FROM points
JOIN drawn USING (study, run_id, model_id)
ORDER BY resolved_at DESC, pair_type, path
