-- purpose: cases of the current runs with nearly equal Abs but other behaviours, matched in pairs
-- grain: one row per study and matched pair
-- paper: section 6.2; appendix F (magnitude-matched pairs)
CREATE OR REPLACE VIEW core_matched_pairs AS
SELECT study, run_id, pair.* EXCLUDE (study, unit_key)
FROM stg_matched_pairs AS pair
JOIN core_analyses USING (study, unit_key);
