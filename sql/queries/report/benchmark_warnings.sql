-- purpose: warnings of the paper's benchmarks, in the columns of warnings
SELECT model_id, warning, affected_count, detail
FROM core_benchmark_warnings
WHERE study = $study
ORDER BY warning, model_id, detail
