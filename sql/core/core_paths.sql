-- purpose: reveal paths of the current runs, with their stages
-- grain: one row per study and path
-- inputs: stg_paths, core_current_runs
-- paper: section 2; section 5
CREATE OR REPLACE VIEW core_paths AS
SELECT
    path.study,
    path.run_id,
    path.path,
    path.position, -- order in the configuration, from 0
    path.kind,
    path.identity, -- JSON
    path.t, -- stage grid, from 0 to 1
    path.repetition_count,
    path.has_common_start, -- r(0) = 0: not so for a context channel
    path.pair_types -- NULL where it scores pairs of all types
FROM stg_paths AS path
JOIN core_current_runs USING (study, run_id);
