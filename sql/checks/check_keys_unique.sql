-- purpose: no row of a run, its shards or its pairs is there twice
-- grain: one row per key that several rows share
-- inputs: core_trajectories, core_profiles, core_shards, stg_predictions, stg_quarantine,
--   stg_costs, stg_runs, stg_run_shards, stg_models, stg_paths, stg_pairs, stg_images,
--   stg_image_files, stg_run_remarks, stg_run_outcomes, repeated_keys
-- paper: none
-- Rows of the large tables are counted by a hash of their key, which takes a fraction of the memory;
-- where one occurs twice, by the key itself.
WITH digests AS NOT MATERIALIZED (
    SELECT *, hash(table_name, study, model_id, pair_id, path, repetition) AS digest
    FROM (
        -- Without shard_key: two shards of one run must not hold the same pair.
        SELECT 'trajectories' AS table_name, study, model_id, pair_id, path, repetition
        FROM core_trajectories
        UNION ALL
        SELECT 'profiles', study, model_id, pair_id, path, repetition FROM core_profiles
    )
),
keys AS (
    SELECT table_name, study, model_id, [pair_id, path, repetition::VARCHAR] AS key
    FROM digests
    WHERE digest IN (SELECT digest FROM digests GROUP BY digest HAVING count(*) > 1)
    UNION ALL
    SELECT 'predictions', study, model_id, [image_id, shard_key]
    FROM stg_predictions SEMI JOIN core_shards USING (study, model_id, shard_key)
    UNION ALL
    SELECT 'quarantine', study, model_id, [pair_id, path, repetition::VARCHAR, shard_key]
    FROM stg_quarantine SEMI JOIN core_shards USING (study, model_id, shard_key)
    UNION ALL
    SELECT 'costs', study, model_id, [shard_key]
    FROM stg_costs SEMI JOIN core_shards USING (study, model_id, shard_key)
    UNION ALL
    SELECT 'runs', study, NULL, [run_id] FROM stg_runs
    UNION ALL
    SELECT 'run_shards', study, NULL, [run_id, shard_key] FROM stg_run_shards
    UNION ALL
    SELECT 'models', study, model_id, [run_id, model_id] FROM stg_models
    UNION ALL
    SELECT 'paths', study, NULL, [run_id, path] FROM stg_paths
    UNION ALL
    SELECT 'pairs', study, NULL, [pairs_digest, pair_id] FROM stg_pairs
    UNION ALL
    SELECT 'images', study, NULL, [pairs_digest, image_id] FROM stg_images
    UNION ALL
    SELECT 'image_files', study, NULL, [pairs_digest, image_id] FROM stg_image_files
    UNION ALL
    SELECT 'run_remarks', study, NULL, [run_id, position::VARCHAR] FROM stg_run_remarks
    UNION ALL
    SELECT 'run_outcomes', study, NULL, [run_id] FROM stg_run_outcomes
)
SELECT 'check_keys_unique' AS check_name, *
FROM repeated_keys('keys');
