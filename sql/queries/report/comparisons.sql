-- purpose: numbers of a study that have a value of the paper beside them
FROM comparisons()
ORDER BY ALL
