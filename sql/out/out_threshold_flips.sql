-- purpose: trajectories whose |d| lies within 1e-6 of the run's epsilon, with both profiles
-- grain: one row per study, model, pair, path and repetition
-- paper: appendix B.8 (threshold stability)
CREATE OR REPLACE VIEW out_threshold_flips AS
FROM threshold_flips(NULL, 1e-6)
ORDER BY study, model_id, abs(distance), pair_id, path, repetition;
