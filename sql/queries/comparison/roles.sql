-- purpose: trajectories whose role differs in the second run
SELECT model_id, pair_type, path, role_a, role_b, trajectory_count, frac
FROM run_diff_roles($run_a, $run_b)
WHERE is_changed
ORDER BY trajectory_count DESC, model_id, pair_type, path, role_a, role_b
