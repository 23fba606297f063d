-- purpose: intervals of the rank transfer, resampling models and resampling sources
-- grain: one row per study, pair type, metric, two paths, what is resampled and level
-- paper: section 6.3 (rank transfer); appendix D.8
CREATE OR REPLACE VIEW out_rank_transfer_intervals AS
FROM rank_transfer_intervals(500, 91702, [0.9, 0.95])
ORDER BY study, pair_type, metric, path_a, path_b, resampled, level;
