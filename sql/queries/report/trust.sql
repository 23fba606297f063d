-- purpose: robustness of each response: threshold, stages, paths, control, sample
SELECT model_id, pair_type, path, epsilon, near_frac, role, is_firm, stage_count, stage_error,
       is_converged, stop_reason, repeats_effect, paths_agree, control, control_response, control_difference,
       control_lower_95, control_upper_95, reacts_to_any_change, source_count, interval_use
FROM out_trust
WHERE study = $study
