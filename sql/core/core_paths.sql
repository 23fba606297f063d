-- purpose: reveal paths of the current runs, with their stages
-- grain: one row per study and path
-- paper: section 2; section 5
CREATE OR REPLACE VIEW core_paths AS
FROM stg_paths
SEMI JOIN core_current_runs USING (study, run_id);
