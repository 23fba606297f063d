-- purpose: sources of all pairs, and the smallest and the largest weight of a pair in means
SELECT count(DISTINCT source_id) AS source_count, min(weight) AS smallest_weight,
       max(weight) AS largest_weight
FROM core_pairs
WHERE study = $study
