-- purpose: means of both runs over the trajectories that both have, and their paired change
SELECT model_id, pair_type, path, metric, mean_a, mean_b, change, lower_limit, upper_limit
FROM run_diff($run_a, $run_b)
ORDER BY ALL
