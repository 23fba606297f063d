-- purpose: pairs of every type, and their sources, which the intervals resample
SELECT pair_type, plus_variant, minus_variant, pair_count, source_count
FROM out_pair_types
WHERE study = $study
ORDER BY pair_type, plus_variant, minus_variant
