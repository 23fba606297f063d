-- purpose: units of work that two runs share or that one of them planned
-- grain: one row per unit of either run
-- If only epsilon differs, the runs share units of trajectories (score) but not of profiles
-- (route). Runs are named as in compared_runs; run_diff compares only profiles that both have.
-- FROM run_diff_units('3f2a', '91bc')
CREATE OR REPLACE MACRO run_diff_units(run_a, run_b) AS TABLE
WITH planned AS MATERIALIZED (
    SELECT unit.*, side, committed.unit_key IS NOT NULL AS is_made
    FROM stg_run_units AS unit
    JOIN compared_runs(run_a, run_b) USING (study, run_id)
    LEFT JOIN committed_units AS committed USING (study, unit_key)
)
SELECT
    coalesce(a.kind, b.kind) AS kind,
    coalesce(a.name, b.name) AS name,
    coalesce(a.model_id, b.model_id) AS model_id,
    coalesce(a.block, b.block) AS block,
    unit_key,
    CASE WHEN b.side IS NULL THEN 'gone' WHEN a.side IS NULL THEN 'new' ELSE 'shared' END
        AS change,
    coalesce(a.row_count, b.row_count) AS row_count,
    coalesce(a.is_made, b.is_made) AS is_made
FROM (FROM planned WHERE side = 'a') AS a
FULL JOIN (FROM planned WHERE side = 'b') AS b USING (unit_key);
