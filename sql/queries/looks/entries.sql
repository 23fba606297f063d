-- purpose: sums of every scored source for changed entries and for the versions before them
-- The relation asked has rows of the query compared.
FROM version_sources('asked')
ORDER BY ALL
