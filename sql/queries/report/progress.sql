-- purpose: blocks of the run that are planned, and those that are scored
SELECT count(*) AS block_count, count(*) FILTER (WHERE is_scored) AS scored_count
FROM core_blocks
WHERE study = ?
