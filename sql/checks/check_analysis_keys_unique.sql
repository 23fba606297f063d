-- purpose: no row of an analysis is there twice
-- grain: one row per key that several rows share
-- inputs: stg_run_analyses, stg_matched_pairs, stg_probe_scores, stg_probe_units,
--   stg_probe_predictions, stg_factual_contexts
-- paper: none
-- Rows of the large tables are counted by their columns: a list for each takes as much again.
WITH counted AS (
    SELECT
        'run_analyses' AS table_name, study, NULL AS model_id, [run_id, analysis_key] AS key,
        count(*) AS row_count
    FROM stg_run_analyses
    GROUP BY ALL
    UNION ALL
    SELECT 'matched_pairs', study, NULL, [analysis_key, position::VARCHAR], count(*)
    FROM stg_matched_pairs
    GROUP BY ALL
    UNION ALL
    SELECT
        'probe_scores', study, NULL, [analysis_key, representation, probe, family, label], count(*)
    FROM stg_probe_scores
    GROUP BY ALL
    UNION ALL
    SELECT
        'probe_units', study, model_id,
        [analysis_key, representation, probe, source_id, label], count(*)
    FROM stg_probe_units
    GROUP BY study, model_id, analysis_key, representation, probe, source_id, label
    UNION ALL
    SELECT
        'probe_predictions', study, model_id, [analysis_key, representation, label], count(*)
    FROM stg_probe_predictions
    GROUP BY ALL
    UNION ALL
    SELECT
        'factual_contexts', study, NULL, [analysis_key, module, seed::VARCHAR, source_id], count(*)
    FROM stg_factual_contexts
    GROUP BY study, analysis_key, module, seed, source_id
)
SELECT
    'check_analysis_keys_unique' AS check_name, study, model_id,
    table_name || '/' || array_to_string(key, '/') AS key,
    format('{} rows', row_count) AS found,
    '1 row' AS expected
FROM counted
WHERE row_count > 1;
