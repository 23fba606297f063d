-- purpose: stored profiles of all runs, with properties of the pair
-- grain: one row per study, run, model, pair, path and repetition
-- paper: section 3, equation 1
CREATE OR REPLACE VIEW core_run_profiles AS
WITH runs AS (FROM stg_runs)
FROM profiles_in_runs('runs');
