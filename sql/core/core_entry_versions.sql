-- purpose: audited entries of a registry, each with the versions that it is compared with
-- grain: one row per study, re-audit, audited entry and version that it is compared with
-- against: last_passed is the last version that passed its gates or was accepted; previous is the
-- version that was audited before; another_entry is the version of the alias that gates compare
-- with, or of the followed entry if --entry named this version. Versions are compared if only the
-- model differs; otherwise reason names the difference.
CREATE OR REPLACE VIEW core_entry_versions AS
WITH recorded AS (FROM stg_registry_entries)
FROM entry_versions('recorded');
