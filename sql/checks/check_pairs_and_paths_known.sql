-- purpose: stored rows have the pairs, paths, stages and threshold of their run
-- grain: one row per unit and breach
-- Core views leave out rows of pairs that the run does not audit, so only this check finds them.
-- check_profiles_recompute finds profiles whose pair or repetition has no trajectory.
WITH units AS (SELECT study, model_id, unit_key FROM core_run_units),
stored AS (
    SELECT study, model_id, unit_key, pair_id, path, repetition, t FROM stg_trajectories
    UNION ALL BY NAME
    SELECT study, model_id, unit_key, pair_id, path, repetition FROM stg_quarantine
),
judged AS (
    SELECT
        stored.study, stored.model_id, stored.unit_key, stored.pair_id, stored.path,
        CASE
            WHEN pair.pair_id IS NULL THEN 'a pair of the run'
            WHEN path.path IS NULL THEN 'a path of the run'
            WHEN stored.repetition < 0 OR stored.repetition >= path.repetition_count
                THEN 'a repetition of the path'
            WHEN stored.t <> path.t THEN 'the stages of the path'
        END AS expected
    FROM (FROM stored SEMI JOIN units USING (study, model_id, unit_key)) AS stored
    LEFT JOIN core_pairs AS pair USING (study, pair_id)
    LEFT JOIN core_paths AS path USING (study, path)
    UNION ALL
    SELECT study, model_id, unit_key, pair_id, path, 'the epsilon of the run'
    FROM stg_profiles AS profile
    SEMI JOIN units USING (study, model_id, unit_key)
    JOIN core_current_runs AS run USING (study)
    WHERE profile.epsilon <> run.epsilon
)
SELECT
    'check_pairs_and_paths_known' AS check_name,
    study,
    model_id,
    unit_key AS key,
    format('{} rows, such as {}', count(*), min(concat_ws('/', pair_id, path))) AS found,
    expected
FROM judged
WHERE expected IS NOT NULL
GROUP BY study, model_id, unit_key, expected;
