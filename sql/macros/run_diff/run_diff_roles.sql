-- purpose: number of trajectories by their roles in two runs
-- grain: one row per model, pair type, path and two roles that occur ('none': no response at all)
-- paper: section 6.2
-- Runs are named as in compared_runs; run_diff_pairs lists the trajectories.
-- FROM run_diff_roles('3f2a', '91bc')
CREATE OR REPLACE MACRO run_diff_roles(run_a, run_b) AS TABLE
WITH counts AS (
    SELECT
        model_id,
        pair_type,
        path,
        coalesce(role_a, 'none') AS role_a,
        coalesce(role_b, 'none') AS role_b,
        count(*) AS trajectory_count,
        sum(weight) AS weight
    FROM run_diff_pairs(run_a, run_b)
    GROUP BY ALL
)
SELECT
    * EXCLUDE (weight),
    -- Share of the trajectories that both runs have, with the weights of pairs.
    weight / sum(weight) OVER (PARTITION BY model_id, pair_type, path) AS frac,
    role_a <> role_b AS is_changed
FROM counts;
