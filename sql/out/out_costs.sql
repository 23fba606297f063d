-- purpose: cost of scoring each model, and rows saved by shared states
-- grain: one row per study and model
-- paper: appendix C.2 (query complexity)
CREATE OR REPLACE VIEW out_costs AS
WITH scans AS (
    SELECT *, row_number() OVER (PARTITION BY study, model_id, block ORDER BY started_at) = 1
        AS is_first
    FROM out_block_costs
)
SELECT
    study,
    model_id,
    count(DISTINCT block) AS block_count,
    sum(pair_count) FILTER (is_first)::BIGINT AS pair_count, -- of scored blocks
    sum(forward_rows)::BIGINT AS forward_rows, -- distinct states, sent through the model
    sum(naive_rows)::BIGINT AS naive_rows, -- without sharing states
    1 - sum(forward_rows) / nullif(sum(naive_rows), 0) AS rows_saved_frac,
    sum(forward_seconds) AS forward_seconds,
    sum(load_seconds) AS load_seconds, -- part of wall_seconds; 0 if the worker held the model
    sum(wall_seconds) AS wall_seconds, -- sum over scans, which may have run in parallel
    sum(forward_rows) / nullif(sum(wall_seconds), 0) AS rows_per_second,
    max(batch_size) AS batch_size,
    max(peak_memory_bytes) AS peak_memory_bytes,
    string_agg(DISTINCT device, ', ' ORDER BY device) AS device
FROM scans
GROUP BY study, model_id
ORDER BY study, model_id;
