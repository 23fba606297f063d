-- purpose: every planned unit of the current runs is committed, with all its rows
-- grain: one row per unit and breach
-- Trajectories and quarantined ones together are those that were planned; profiles are as many as
-- the trajectories of the same model, block and path.
WITH trajectories AS (
    SELECT study, unit_key, count(*) AS row_count FROM stg_trajectories GROUP BY ALL
),
withheld AS (
    SELECT study, unit_key, count(*) AS row_count FROM stg_quarantine GROUP BY ALL
),
profiles AS (SELECT study, unit_key, count(*) AS row_count FROM stg_profiles GROUP BY ALL),
components AS (
    SELECT study, unit_key, count(*) AS row_count FROM stg_baseline_scores GROUP BY ALL
),
counted AS (
    SELECT
        unit.*,
        coalesce(trajectories.row_count, 0) AS trajectory_rows,
        coalesce(withheld.row_count, 0) AS withheld_rows,
        coalesce(profiles.row_count, 0) AS profile_rows,
        coalesce(components.row_count, 0) AS component_rows
    FROM core_run_units AS unit
    LEFT JOIN trajectories USING (study, unit_key)
    LEFT JOIN withheld USING (study, unit_key)
    LEFT JOIN profiles USING (study, unit_key)
    LEFT JOIN components USING (study, unit_key)
),
routed AS (
    SELECT route.*, score.trajectory_rows AS scored_rows
    FROM (FROM counted WHERE kind = 'route') AS route
    JOIN (FROM counted WHERE kind = 'score') AS score USING (study, model_id, block, name)
),
breaches AS (
    SELECT study, model_id, unit_key, 'no ' || concat_ws(' ', kind, nullif(name, '')) AS found,
        'a receipt of it' AS expected
    FROM counted
    WHERE NOT is_made
    UNION ALL
    SELECT study, model_id, unit_key,
        format('{} trajectories, {} quarantined', trajectory_rows, withheld_rows),
        format('{} together', row_count)
    FROM counted
    WHERE is_made AND kind = 'score' AND trajectory_rows + withheld_rows <> row_count
    UNION ALL
    SELECT study, model_id, unit_key, format('{} profiles', profile_rows),
        format('{}, one per trajectory', scored_rows)
    FROM routed
    WHERE is_made AND profile_rows <> scored_rows
    UNION ALL
    SELECT study, model_id, unit_key, format('{} components', component_rows),
        format('{} components', row_count)
    FROM counted
    WHERE is_made AND kind = 'explain' AND component_rows <> row_count
)
SELECT 'check_units_complete' AS check_name, study, model_id, unit_key AS key, found, expected
FROM breaches;
