-- purpose: M, E, C and F of each version of the models of registries, with intervals
WITH asked AS (
    FROM core_entry_versions
    WHERE change <> 'none' AND against = 'previous' AND ($study IS NULL OR study = $study)
        AND ($model IS NULL OR $model IN (entry, name))
)
SELECT study, entry, pair_type, path, resolved_at AT TIME ZONE 'UTC', version,
    max(value) FILTER (metric = 'endpoint_magnitude'),
    max([lower_limit, upper_limit]) FILTER (metric = 'endpoint_magnitude'),
    max(value) FILTER (metric = 'evidence'),
    max([lower_limit, upper_limit]) FILTER (metric = 'evidence'),
    max(value) FILTER (metric = 'contradiction'),
    max([lower_limit, upper_limit]) FILTER (metric = 'contradiction'),
    max(value) FILTER (metric = 'fragility'),
    max([lower_limit, upper_limit]) FILTER (metric = 'fragility')
FROM history_of('asked')
WHERE pair_type IS NOT NULL
GROUP BY study, entry, pair_type, path, resolved_at, version
ORDER BY study, entry, pair_type, path, resolved_at
