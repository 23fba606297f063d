-- purpose: limits of each rule that may stop the scoring, look by look
SELECT entry, metric, rule, pair_type, path, variant, gate_limit, source_count,
       planned_source_count, found, lower_limit, upper_limit, level, verdict, is_last
FROM out_looks
WHERE study = $study AND found IS NOT NULL
ORDER BY entry, metric, rule, pair_type, path, variant, gate_limit, source_count
