-- purpose: audited entries of a registry, each with the versions of it that it is compared with
-- grain: one row per study, re-audit, audited entry and what it is compared with
-- What columns mean: entry_versions_of.
CREATE OR REPLACE VIEW core_entry_versions AS
WITH recorded AS (FROM stg_registry_entries)
FROM entry_versions_of('recorded');
