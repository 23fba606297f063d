-- purpose: mean over models of every metric on two paths, and their ratio b / a
SELECT pair_type, path_a, path_b, metric, mean_a, mean_b, ratio, model_count
FROM out_path_ratios
WHERE study = $study
ORDER BY pair_type, path_a, path_b, metric
