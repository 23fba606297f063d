-- purpose: mean routed response of every model at every stage, score units
SELECT model_id, pair_type, path, t, evidence, contradiction, fragility
FROM out_mean_trajectories
WHERE study = $study
ORDER BY pair_type, path, model_id, stage
