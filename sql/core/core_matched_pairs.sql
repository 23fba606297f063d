-- purpose: units of the current runs of about equal Abs and other behaviours, matched one to one
-- grain: one row per study and pair
-- paper: section 6.2; appendix F (magnitude-matched pairs)
CREATE OR REPLACE VIEW core_matched_pairs AS
SELECT
    study,
    run_id,
    position, -- from 0, in ascending order of the left Abs
    left_model_id,
    left_source_id,
    left_abs_response, -- score units
    right_model_id,
    right_source_id,
    right_abs_response -- score units, at least the left one
FROM stg_matched_pairs
JOIN core_analyses USING (study, unit_key);
