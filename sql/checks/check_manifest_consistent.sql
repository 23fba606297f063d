-- purpose: units, models and paths of a run equal its manifest
-- grain: one row per current run and breach
WITH pairs AS (
    SELECT study, pair_type, count(*) AS pair_count FROM core_pairs GROUP BY study, pair_type
),
runs AS (
    SELECT
        run.*,
        (SELECT count(*) FROM core_run_units AS u WHERE u.study = run.study) AS units,
        (SELECT count(*) FROM core_paths AS p WHERE p.study = run.study) AS paths,
        (
            SELECT coalesce(sum(repetition_count * pair_count), 0)
            FROM core_paths AS path
            JOIN pairs
                ON pairs.study = path.study
                AND (path.pair_types IS NULL OR list_contains(path.pair_types, pair_type))
            WHERE path.study = run.study
        ) AS trajectories
    FROM core_current_runs AS run
),
planned AS (
    SELECT study, model_id, sum(row_count) AS trajectory_count, count(DISTINCT block) AS blocks
    FROM core_run_units
    WHERE kind = 'score'
    GROUP BY study, model_id
),
stops AS (FROM stg_run_stops SEMI JOIN core_current_runs USING (study, run_id)),
models AS (
    SELECT study, model_id FROM stg_models SEMI JOIN core_current_runs USING (study, run_id)
),
breaches AS (
    SELECT
        study, NULL AS model_id, run_id AS key, format('{} units', units) AS found,
        format('{} units', unit_count) AS expected
    FROM runs
    WHERE units <> unit_count
    UNION ALL
    SELECT study, NULL, run_id, 'no path', 'the paths of the run'
    FROM runs
    WHERE paths = 0
    UNION ALL
    SELECT study, model_id, 'trajectories', format('{} planned', trajectory_count),
        format('{} of the pairs of all paths', trajectories)
    FROM planned JOIN runs USING (study) ANTI JOIN stops USING (study, model_id)
    WHERE trajectory_count <> trajectories AND paths > 0
    UNION ALL
    SELECT study, model_id, 'blocks', format('{} planned', blocks),
        format('{}, where it stopped', block_count)
    FROM planned JOIN stops USING (study, model_id)
    WHERE blocks <> block_count
    UNION ALL
    SELECT
        study, model_id, 'model', if(planned.study IS NULL, 'no units', 'no card'),
        'a card and units of every model'
    FROM planned FULL JOIN models USING (study, model_id)
    WHERE planned.study IS NULL OR models.study IS NULL
)
SELECT 'check_manifest_consistent' AS check_name, study, model_id, key, found, expected
FROM breaches;
