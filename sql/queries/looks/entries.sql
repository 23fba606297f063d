-- purpose: sums of every source so far for changed entries, and for the versions before them
-- The relation asked has rows of entries, as the query compared gives them.
FROM version_sources('asked')
ORDER BY ALL
