-- purpose: numbers of a study that have a value of the paper beside them
FROM core_comparisons
ORDER BY ALL
