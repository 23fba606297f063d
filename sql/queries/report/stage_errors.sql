-- purpose: bound of the change of each mean without every second stage, score units
SELECT model_id, pair_type, path, metric, greatest(-lower_95, upper_95) AS bound
FROM out_stage_errors
WHERE study = $study
