-- purpose: responses of an entry at its last 5 versions, score units, the newest version first
WITH points AS (
    FROM core_entry_versions
    WHERE study = $study AND entry = $entry AND change <> 'none' AND against = 'previous'
    ORDER BY resolved_at DESC
    LIMIT 5
)
SELECT resolved_at, version, pair_type, path, metric, value, lower_limit, upper_limit
FROM history_of('points')
WHERE metric IN ('evidence', 'contradiction', 'fragility', 'abs_response', 'endpoint_magnitude')
ORDER BY resolved_at DESC, pair_type, path, metric
