-- purpose: numbers of a study for which the paper has a value
FROM comparisons()
ORDER BY ALL
