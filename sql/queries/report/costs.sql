-- purpose: cost of scoring every model; seconds are sums over its blocks
SELECT model_id, block_count, pair_count, forward_rows, naive_rows, rows_saved_frac,
       forward_seconds, wall_seconds, rows_per_second, batch_size, peak_memory_bytes, device
FROM out_costs
WHERE study = $study
ORDER BY model_id
