-- purpose: which shards two runs share, and which only one of them planned
-- grain: one row per model and shard of either run
-- inputs: stg_run_shards, compared_runs, receipts
-- paper: none
-- A shard is shared with its profiles, rerouted (scores shared, another epsilon), gone, or new. Runs
-- are named as in compared_runs; run_diff can only compare what both have routed.
-- FROM run_diff_shards('3f2a', '91bc')
CREATE OR REPLACE MACRO run_diff_shards(run_a, run_b) AS TABLE
WITH planned AS MATERIALIZED (
    SELECT
        shard.*,
        side,
        EXISTS (
            FROM receipts
            WHERE kind = 'profiles' AND receipts.study = shard.study AND key = profile_key
        ) AS is_routed
    FROM stg_run_shards AS shard
    JOIN compared_runs(run_a, run_b) USING (study, run_id)
)
SELECT
    model_id,
    shard_key,
    CASE
        WHEN b.side IS NULL THEN 'gone'
        WHEN a.side IS NULL THEN 'new'
        WHEN a.profile_key <> b.profile_key THEN 'rerouted'
        ELSE 'shared'
    END AS change,
    coalesce(b.pair_count, a.pair_count) AS pair_count,
    a.is_routed AS is_routed_a, -- NULL where the run has no such shard
    b.is_routed AS is_routed_b
FROM (FROM planned WHERE side = 'a') AS a
FULL JOIN (FROM planned WHERE side = 'b') AS b USING (model_id, shard_key);
