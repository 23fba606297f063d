-- purpose: intervals of the model means: percentile bootstrap over sources, 500 replicates
-- grain: one row per study, model, pair type, path and metric
-- paper: appendix D.8 (statistical summaries)
CREATE OR REPLACE VIEW out_model_intervals AS
FROM model_intervals(500, 91702)
ORDER BY study, model_id, pair_type, path, metric;
