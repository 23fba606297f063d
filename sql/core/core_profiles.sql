-- purpose: profiles of the current runs at their epsilon, with properties of the pair
-- grain: one row per study, model, pair, path and repetition
-- paper: section 3, equation 1
CREATE OR REPLACE VIEW core_profiles AS
WITH current_runs AS (FROM core_current_runs)
FROM profiles_in_runs('current_runs');
