-- purpose: planned shards of the current runs, and how far each has come
-- grain: one row per study and shard of its current run
-- inputs: core_current_runs, stg_run_shards, receipts
-- paper: none
CREATE OR REPLACE VIEW core_shards AS
WITH committed AS (SELECT kind, study, key, pairs_digest FROM receipts)
SELECT
    planned.study,
    planned.run_id,
    planned.model_id,
    planned.block,
    planned.shard_key,
    planned.profile_key,
    planned.pair_count,
    planned.trajectory_count, -- quarantined ones included
    scored.key IS NOT NULL AS is_scored,
    routed.key IS NOT NULL AS is_routed,
    scored.pairs_digest -- of the pairs that were scored; NULL before that
FROM stg_run_shards AS planned
JOIN core_current_runs USING (study, run_id)
LEFT JOIN committed AS scored
    ON scored.kind = 'shards' AND scored.study = planned.study AND scored.key = planned.shard_key
LEFT JOIN committed AS routed
    ON routed.kind = 'profiles'
    AND routed.study = planned.study
    AND routed.key = planned.profile_key;
