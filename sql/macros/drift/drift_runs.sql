-- purpose: runs and models of the compared versions and of the versions before them
-- grain: one row per study, run and model
-- rel is as for drift_pairs. Filter large tables by these rows and do not join them with rel:
-- DuckDB does not know the size of rel and would hash all profiles of the warehouse.
-- FROM drift_runs('core_entry_versions')
CREATE OR REPLACE MACRO drift_runs(rel) AS TABLE
SELECT study, run_id, model_id FROM query_table(rel)
UNION
SELECT study, run_before, model_before FROM query_table(rel);
