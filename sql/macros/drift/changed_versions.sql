-- purpose: present versions of a registry with other content than the version that they are
--   compared with
-- grain: one row per entry and version that it is compared with
-- rel names a relation with the columns of core_entry_versions.
-- FROM changed_versions('core_entry_versions')
CREATE OR REPLACE MACRO changed_versions(rel) AS TABLE
FROM query_table(rel)
WHERE is_present AND is_changed AND (against <> 'previous' OR is_another);
