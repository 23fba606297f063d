-- purpose: every number of the paper beside those that were read from result pages
FROM scoreboard_of('kept')
ORDER BY paper, position
