-- purpose: mean and 95 % bootstrap interval of every metric, score units
SELECT model_id, pair_type, path, metric, estimate, lower_95, upper_95,
       source_count, replicate_count
FROM out_model_intervals
WHERE study = $study
ORDER BY pair_type, path, model_id, metric
