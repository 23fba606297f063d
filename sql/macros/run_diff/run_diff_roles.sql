-- purpose: number of trajectories that went from each role to each other between two runs
-- grain: one row per model, pair type, path and two roles that occur ('none': no response at all)
-- paper: section 6.2
-- Evidence and contradiction are endpoint-active, fragility and none are endpoint-null. Runs are
-- named as in compared_runs; run_diff_pairs lists the trajectories.
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
    -- Of the trajectories that both runs have, by the weights of their pairs.
    weight / sum(weight) OVER (PARTITION BY model_id, pair_type, path) AS frac,
    role_a <> role_b AS is_changed
FROM counts;
