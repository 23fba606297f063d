-- purpose: sums of every source of pairs for a version of an entry, and for the version before it
-- grain: one row per row of rel, pair type and path or kind of clean image, and source
-- paper: section 6.2
-- rel is as for drift_pairs. Columns are weighted sums over the trajectories of the source, or
-- counts of its images. Of row_count trajectories or images, the version before has
-- compared_count.
-- FROM version_sources('core_entry_versions')
CREATE OR REPLACE MACRO version_sources(rel) AS TABLE
WITH paired AS (
    SELECT * EXCLUDE (role, role_before, endpoint_delta, endpoint_delta_before)
    FROM version_pairs(rel)
)
SELECT
    entry, pair_type, path, NULL::VARCHAR AS variant, source_id,
    count(*) AS row_count,
    count(*) FILTER (is_compared) AS compared_count,
    sum(weight) AS weight,
    sum(weight * COLUMNS('(magnitude|evidence|contradiction|fragility|response|active)(_before)?$')::DOUBLE),
    NULL::DOUBLE AS is_correct,
    NULL::DOUBLE AS was_correct
FROM paired
GROUP BY entry, pair_type, path, source_id
UNION ALL BY NAME
SELECT
    entry, NULL AS pair_type, NULL AS path, variant, source_id,
    count(*) AS row_count,
    count(was_correct) AS compared_count,
    count(*)::DOUBLE AS weight,
    sum(is_correct) AS is_correct,
    sum(was_correct) AS was_correct
FROM version_images(rel)
GROUP BY entry, variant, source_id;
