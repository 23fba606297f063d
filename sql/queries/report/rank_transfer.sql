-- purpose: Spearman correlation of the models' values between two paths, or why there is none
SELECT pair_type, path_a, path_b, metric, spearman, reason, model_count
FROM out_rank_transfer
WHERE study = $study
ORDER BY pair_type, path_a, path_b, metric
