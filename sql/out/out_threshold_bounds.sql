-- purpose: largest change of the means if every trajectory within 1e-6 of epsilon changed its side
-- grain: one row per study, model, pair type and path
-- paper: appendix B.8 (threshold stability)
CREATE OR REPLACE VIEW out_threshold_bounds AS
FROM threshold_bounds(NULL, 1e-6)
ORDER BY study, model_id, pair_type, path;
