-- purpose: no row of an analysis over all models, or of a re-audit, is there twice
-- grain: one row per key that several rows share
-- inputs: stg_run_analyses, stg_matched_pairs, stg_probe_scores, stg_probe_units,
--   stg_probe_predictions, stg_factual_contexts, stg_registry_entries, stg_gate_verdicts, repeated_keys
-- paper: none
WITH keys AS (
    SELECT
        'run_analyses' AS table_name, study, NULL AS model_id, [run_id, analysis_key] AS key
    FROM stg_run_analyses
    UNION ALL
    SELECT 'matched_pairs', study, NULL, [analysis_key, position::VARCHAR] FROM stg_matched_pairs
    UNION ALL
    SELECT 'probe_scores', study, NULL, [analysis_key, representation, probe, family, label]
    FROM stg_probe_scores
    UNION ALL
    SELECT 'probe_units', study, model_id, [analysis_key, representation, probe, source_id, label]
    FROM stg_probe_units
    UNION ALL
    SELECT 'probe_predictions', study, model_id, [analysis_key, representation, label]
    FROM stg_probe_predictions
    UNION ALL
    SELECT
        'factual_contexts', study, NULL, [analysis_key, module, seed::VARCHAR, source_id]
    FROM stg_factual_contexts
    UNION ALL
    SELECT 'registry_entries', study, NULL, [reaudit_id, entry] FROM stg_registry_entries
    UNION ALL
    SELECT 'gate_verdicts', study, NULL, [reaudit_id, position::VARCHAR] FROM stg_gate_verdicts
)
SELECT 'check_analysis_keys_unique' AS check_name, *
FROM repeated_keys('keys');
