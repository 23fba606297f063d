-- purpose: results of the newest re-audit for each audited version
WITH asked AS (
    FROM core_entry_versions WHERE study = $study AND is_newest AND against = 'previous'
),
found AS (
    FROM history_of('asked')
    WHERE metric IN ('endpoint_magnitude', 'evidence', 'contradiction', 'fragility')
        AND value IS NOT NULL
)
SELECT name, asked.version, metric, concat_ws('.', path, pair_type),
    1 = (SELECT count(DISTINCT (path, pair_type)) FROM found),
    value, lower_limit, upper_limit
FROM found
JOIN asked USING (study, entry)
ORDER BY ALL
