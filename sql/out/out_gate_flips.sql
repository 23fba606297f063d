-- purpose: trajectories that end within 1e-6 of their run's epsilon, and what the other side holds
-- grain: one row per study, model, pair, path and repetition
-- paper: appendix B.8 (threshold stability)
CREATE OR REPLACE VIEW out_gate_flips AS
FROM gate_flips(NULL, 1e-6)
ORDER BY study, model_id, abs(distance), pair_id, path, repetition;
