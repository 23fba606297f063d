-- purpose: profiles of two versions of an entry on the same trajectories, side by side
-- grain: one row per row of rel, pair, path and repetition
-- paper: section 6.2
-- rel names a relation with the columns of core_entry_versions, such as some of its rows. If the
-- version before has comparable trajectories, those that it lacks are left out; otherwise its
-- columns are NULL. A path is compared if its definition is the same in both versions.
-- FROM drift_pairs('core_entry_versions')
CREATE OR REPLACE MACRO drift_pairs(rel) AS TABLE
WITH paired AS MATERIALIZED (FROM version_pairs(rel)),
compared AS (
    SELECT DISTINCT study, reaudit_id, entry, against, pair_type, path FROM paired WHERE is_compared
)
FROM paired
WHERE is_compared OR (study, reaudit_id, entry, against, pair_type, path) NOT IN (FROM compared);
