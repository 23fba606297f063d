-- purpose: what every source says so far of changed entries, and of the versions before them
-- The relation asked has rows of entries, as the query compared gives them.
FROM version_sources('asked')
ORDER BY ALL
