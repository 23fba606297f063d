-- purpose: pairs whose role changed most with the present version of a registry
-- grain: one row per study, entry, two roles and rank
-- paper: section 6.2
CREATE OR REPLACE VIEW core_changed_pairs AS
WITH versions AS (FROM core_entry_versions)
FROM changed_pairs_of('versions');
