-- purpose: stored rows have pairs, paths, stages and threshold of their run
-- grain: one row per unit and breach
-- The core views leave out rows of pairs that the run does not audit: they would go unnoticed.
WITH stored AS (
    SELECT study, model_id, unit_key, pair_id, path, repetition, t FROM stg_trajectories
    UNION ALL BY NAME
    SELECT study, model_id, unit_key, pair_id, path, repetition, epsilon FROM stg_profiles
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
            WHEN stored.epsilon <> run.epsilon THEN 'the epsilon of the run'
        END AS expected
    FROM (FROM stored SEMI JOIN core_run_units USING (study, model_id, unit_key)) AS stored
    JOIN core_current_runs AS run USING (study)
    LEFT JOIN core_pairs AS pair USING (study, pair_id)
    LEFT JOIN core_paths AS path USING (study, path)
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
