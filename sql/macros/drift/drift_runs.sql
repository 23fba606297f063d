-- purpose: models of the runs that a drift compares, of the present and the earlier versions
-- grain: one row per study, run and model
-- rel is as for drift_pairs. What is large is filtered by these rows, not joined with rel: DuckDB
-- knows nothing of the size of rel, and would hash all profiles of the warehouse.
-- FROM drift_runs('core_entry_versions')
CREATE OR REPLACE MACRO drift_runs(rel) AS TABLE
SELECT study, run_id, model_id FROM query_table(rel)
UNION
SELECT study, run_before, model_before FROM query_table(rel);
