-- purpose: verdict of every rule of a gate
SELECT entry, version, verdict, metric, rule, pair_type, path, variant, gate_limit,
       found, lower_limit, upper_limit, level, beyond_by, reason,
       source_count, planned_source_count
FROM out_verdicts
WHERE study = $study
