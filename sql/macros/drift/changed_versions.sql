-- purpose: versions of a registry now whose content differs from that of the version they are
--   compared with
-- grain: one row per such row of rel
-- rel names a relation with the columns of core_entry_versions.
-- FROM changed_versions('core_entry_versions')
CREATE OR REPLACE MACRO changed_versions(rel) AS TABLE
FROM query_table(rel)
WHERE is_present AND is_changed AND (against <> 'previous' OR is_another);
