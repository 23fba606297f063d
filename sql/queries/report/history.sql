-- purpose: E, C, F, Abs and M of each entry that changed in the newest re-audit, last 20 versions
WITH changed AS (
    SELECT entry FROM core_entry_versions WHERE study = $study AND is_newest AND change <> 'none'
),
points AS (
    SELECT *
    FROM core_entry_versions
    SEMI JOIN changed USING (entry)
    WHERE study = $study AND change <> 'none' AND against = 'previous'
    QUALIFY row_number() OVER (PARTITION BY entry ORDER BY resolved_at DESC) <= 20
)
SELECT entry, model_id, resolved_at AT TIME ZONE 'UTC' AS resolved_at, version, change,
       pair_type, path, metric, value, lower_limit, upper_limit,
       lowest_allowed, highest_allowed
FROM history_of('points')
WHERE metric IN ('evidence', 'contradiction', 'fragility', 'abs_response',
    'endpoint_magnitude')
ORDER BY entry, pair_type, path, resolved_at, metric
