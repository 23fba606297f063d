-- purpose: mean over models at every epsilon
SELECT pair_type, path, epsilon, count(*) AS model_count,
       avg(active_frac) AS active_frac, avg(evidence) AS evidence,
       avg(contradiction) AS contradiction, avg(fragility) AS fragility
FROM out_epsilon_sweep
WHERE study = $study
GROUP BY pair_type, path, epsilon
ORDER BY pair_type, path, epsilon
