-- purpose: every row of every table occurs once
-- grain: one row per key that several rows share
WITH keys AS NOT MATERIALIZED (
    -- Without unit_key: two units of one run must not hold the same pair.
    SELECT
        'trajectories' AS table_name, study, model_id,
        [pair_id, path, repetition::VARCHAR] AS key
    FROM stg_trajectories SEMI JOIN core_run_units USING (study, model_id, unit_key)
    UNION ALL SELECT 'profiles', study, model_id, [pair_id, path, repetition::VARCHAR]
    FROM stg_profiles SEMI JOIN core_run_units USING (study, model_id, unit_key)
    UNION ALL SELECT 'units', study, NULL, [unit_key] FROM committed_units
    UNION ALL SELECT 'predictions', study, model_id, [image_id, unit_key] FROM stg_predictions
    UNION ALL SELECT 'quarantine', study, model_id, [pair_id, path, repetition::VARCHAR, unit_key]
    FROM stg_quarantine
    UNION ALL SELECT 'repeats', study, model_id,
        [pair_id, path, repetition::VARCHAR, repeat::VARCHAR, unit_key] FROM stg_repeats
    UNION ALL SELECT 'costs', study, model_id, [commit_key] FROM stg_costs
    UNION ALL SELECT 'corruptions', study, model_id, [image_id, corruption, unit_key] FROM stg_corruptions
    UNION ALL SELECT 'attributions', study, model_id, [pair_id, method, unit_key] FROM stg_attributions
    UNION ALL SELECT 'baseline_scores', study, model_id, [unit_key, component] FROM stg_baseline_scores
    UNION ALL SELECT 'matched_pairs', study, NULL, [unit_key, position::VARCHAR] FROM stg_matched_pairs
    UNION ALL SELECT 'probe_scores', study, NULL, [unit_key, representation, probe, family, label]
    FROM stg_probe_scores
    UNION ALL SELECT 'probe_units', study, model_id,
        [unit_key, representation, probe, source_id, label] FROM stg_probe_units
    UNION ALL SELECT 'probe_predictions', study, model_id, [unit_key, representation, label]
    FROM stg_probe_predictions
    UNION ALL SELECT 'factual_contexts', study, NULL, [unit_key, module, seed::VARCHAR, source_id]
    FROM stg_factual_contexts
    UNION ALL SELECT 'made_files', study, NULL, [unit_key, file] FROM stg_made_files
    UNION ALL SELECT 'chosen_epochs', study, NULL, [unit_key, model, epoch::VARCHAR] FROM stg_chosen_epochs
    UNION ALL SELECT 'runs', study, NULL, [run_id] FROM stg_runs
    UNION ALL SELECT 'run_units', study, NULL, [run_id, unit_key] FROM stg_run_units
    UNION ALL SELECT 'unit_parts', study, NULL, [run_id, unit_key, part] FROM stg_unit_parts
    UNION ALL SELECT 'models', study, model_id, [run_id, model_id] FROM stg_models
    UNION ALL SELECT 'model_trials', study, model_id, [trial_id] FROM stg_model_trials
    UNION ALL SELECT 'model_failures', study, model_id, [run_id] FROM stg_model_failures
    UNION ALL SELECT 'paths', study, NULL, [run_id, path] FROM stg_paths
    UNION ALL SELECT 'pairs', study, NULL, [pairs_digest, pair_id] FROM stg_pairs
    UNION ALL SELECT 'images', study, NULL, [pairs_digest, image_id] FROM stg_images
    UNION ALL SELECT 'image_files', study, NULL, [pairs_digest, image_id] FROM stg_image_files
    UNION ALL SELECT 'features', study, NULL, [pairs_digest, pair_id] FROM stg_features
    UNION ALL SELECT 'pair_groups', study, NULL, [pairs_digest, pair_id, grouping] FROM stg_pair_groups
    UNION ALL SELECT 'run_remarks', study, NULL, [run_id, position::VARCHAR] FROM stg_run_remarks
    UNION ALL SELECT 'class_names', study, NULL, [run_id, class_id::VARCHAR] FROM stg_class_names
    UNION ALL SELECT 'run_outcomes', study, NULL, [run_id] FROM stg_run_outcomes
    UNION ALL SELECT 'run_stops', study, model_id, [run_id] FROM stg_run_stops
    UNION ALL SELECT 'looks', study, NULL, [run_id, position::VARCHAR] FROM stg_looks
    UNION ALL SELECT 'shown_pairs', study, NULL, [run_id, pair_id, path, repetition::VARCHAR]
    FROM stg_shown_pairs
    UNION ALL SELECT 'registry_entries', study, NULL, [reaudit_id, entry] FROM stg_registry_entries
    UNION ALL SELECT 'gate_verdicts', study, NULL, [reaudit_id, position::VARCHAR] FROM stg_gate_verdicts
    UNION ALL SELECT 'acceptances', study, NULL, [reaudit_id, entry, accepted_at::VARCHAR] FROM stg_acceptances
    UNION ALL SELECT 'alerts', study, NULL, [delivery, entry, kind] FROM stg_alerts
)
SELECT 'check_keys_unique' AS check_name, * FROM repeated_keys('keys');
