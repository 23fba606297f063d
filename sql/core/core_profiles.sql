-- purpose: profiles of the current runs at the run's epsilon, with what their pair is
-- grain: one row per study, model, pair, path and repetition
-- paper: section 3, equation 1
CREATE OR REPLACE VIEW core_profiles AS
WITH current_runs AS (FROM core_current_runs)
FROM profiles_in_runs('current_runs');
