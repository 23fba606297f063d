-- purpose: sums of every scored source for changed entries and for the versions before them
-- The relation compared_entries has the rows of the query compared.
FROM version_sources('compared_entries')
ORDER BY ALL
