-- purpose: every planned unit of the current runs is committed, with all its rows
-- grain: one row per unit and breach
-- Stored and quarantined trajectories of a unit add up to the planned ones. A model has as many
-- profiles as trajectories on each block and path.
WITH stored AS (
    SELECT study, unit_key, 'trajectories' AS table_name FROM stg_trajectories
    UNION ALL SELECT study, unit_key, 'quarantine' FROM stg_quarantine
    UNION ALL SELECT study, unit_key, 'profiles' FROM stg_profiles
    UNION ALL SELECT study, unit_key, 'baseline_scores' FROM stg_baseline_scores
),
counts AS (
    SELECT study, unit_key, table_name, count(*) AS row_count
    FROM stored
    SEMI JOIN core_run_units USING (study, unit_key)
    GROUP BY ALL
),
counted AS (
    SELECT
        unit.study, unit.model_id, unit_key, unit.kind, unit.name, unit.block, unit.row_count,
        unit.is_made,
        coalesce(max(c.row_count) FILTER (table_name = 'trajectories'), 0) AS trajectory_rows,
        coalesce(max(c.row_count) FILTER (table_name = 'quarantine'), 0) AS withheld_rows,
        coalesce(max(c.row_count) FILTER (table_name = 'profiles'), 0) AS profile_rows,
        coalesce(max(c.row_count) FILTER (table_name = 'baseline_scores'), 0) AS component_rows
    FROM core_run_units AS unit
    LEFT JOIN counts AS c USING (study, unit_key)
    GROUP BY ALL
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
