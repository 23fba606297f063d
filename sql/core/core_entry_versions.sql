-- purpose: audited entries of a registry, each with the versions that it is compared with
-- grain: one row per study, re-audit, audited entry and version that it is compared with
-- against: last_passed is the last version that passed its gates, or was accepted; previous is the
-- one that was audited before; another_entry is what an alias points at that the gates compare
-- with, or the followed entry of a version that --entry names. Versions are compared
-- where all but the model is the same; reason says why they are not.
CREATE OR REPLACE VIEW core_entry_versions AS
WITH recorded AS (FROM stg_registry_entries)
FROM entry_versions('recorded');
