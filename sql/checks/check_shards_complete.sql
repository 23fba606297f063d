-- purpose: every planned shard of the current runs is scored and routed, with all its rows
-- grain: one row per shard and breach
-- inputs: core_shards, core_trajectories, core_profiles, stg_quarantine
-- paper: none
WITH trajectories AS (
    SELECT study, model_id, shard_key, count(*) AS row_count FROM core_trajectories GROUP BY ALL
),
profiles AS (
    SELECT study, model_id, profile_key, count(*) AS row_count FROM core_profiles GROUP BY ALL
),
withheld AS (
    SELECT study, model_id, shard_key, count(*) AS row_count FROM stg_quarantine GROUP BY ALL
),
counted AS (
    SELECT
        shard.*,
        coalesce(trajectories.row_count, 0) AS trajectory_rows,
        coalesce(withheld.row_count, 0) AS withheld_rows,
        coalesce(profiles.row_count, 0) AS profile_rows
    FROM core_shards AS shard
    LEFT JOIN trajectories USING (study, model_id, shard_key)
    LEFT JOIN withheld USING (study, model_id, shard_key)
    LEFT JOIN profiles USING (study, model_id, profile_key)
),
breaches AS (
    SELECT *, 'no scores' AS found, 'a receipt of its scores' AS expected
    FROM counted
    WHERE NOT is_scored
    UNION ALL
    SELECT *, 'no profiles', 'a receipt of its profiles'
    FROM counted
    WHERE is_scored AND NOT is_routed
    UNION ALL
    SELECT
        *,
        format('{} trajectories, {} quarantined', trajectory_rows, withheld_rows),
        format('{} together', trajectory_count)
    FROM counted
    WHERE is_scored AND trajectory_rows + withheld_rows <> trajectory_count
    UNION ALL
    SELECT *, format('{} profiles', profile_rows), format('{}, one per trajectory', trajectory_rows)
    FROM counted
    WHERE is_routed AND profile_rows <> trajectory_rows
)
SELECT
    'check_shards_complete' AS check_name,
    study,
    model_id,
    shard_key AS key,
    found,
    expected
FROM breaches;
