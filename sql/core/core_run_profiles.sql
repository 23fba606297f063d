-- purpose: profiles of every run whose rows are still there, with what their pair is
-- grain: one row per study, run, model, pair, path and repetition
-- paper: section 3, equation 1
CREATE OR REPLACE VIEW core_run_profiles AS
WITH runs AS (FROM stg_runs)
FROM profiles_in_runs('runs');
