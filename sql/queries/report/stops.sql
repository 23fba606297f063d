-- purpose: models whose scoring stopped early, and their progress
SELECT model_id, source_count, planned_source_count, block_count, planned_block_count,
       source_share, if(is_decided, 'decided', 'not all is decided') AS outcome
FROM out_stops
WHERE study = $study
ORDER BY source_share DESC, model_id
