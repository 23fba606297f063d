-- purpose: every number of the paper, next to the numbers of result pages
FROM scoreboard_of('kept')
ORDER BY paper, position
