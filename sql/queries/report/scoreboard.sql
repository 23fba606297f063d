-- purpose: every number of the paper, next to those that were read from result pages
FROM scoreboard_of('kept')
ORDER BY paper, position
