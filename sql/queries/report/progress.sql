-- purpose: planned and scored blocks of the run
SELECT count(*) AS block_count, count(*) FILTER (WHERE is_scored) AS scored_count
FROM core_blocks
WHERE study = $study
