-- purpose: number of trajectories of a model that are equal on order A and another patch order
-- grain: one row per study, model, pair type and two patch orders on which it was scored
-- paper: appendix G (patch-order stability)
-- Identical trajectories have equal scores at every stage, bit for bit.
CREATE OR REPLACE VIEW core_identical_trajectories AS
WITH orders AS (
    SELECT study, first.path AS path_a, second.path AS path_b
    FROM core_protocol_paths AS first
    JOIN core_protocol_paths AS second USING (study)
    WHERE first.protocol = 'patch' AND first.place = 1
        AND second.protocol IN ('patch', 'random') AND second.path <> first.path
),
-- A 64-bit hash replaces stages and scores: half the time, a fraction of the memory.
stored AS MATERIALIZED (
    SELECT
        study, model_id, pair_type, pair_id, repetition, path, hash(t, q_plus, q_minus) AS content
    FROM core_trajectories
)
SELECT
    study,
    model_id,
    a.pair_type,
    path_a, -- order A
    path_b,
    count(*) AS trajectory_count, -- trajectories that both paths have
    count_if(a.content = b.content)::BIGINT AS identical_count
FROM stored AS a
JOIN stored AS b USING (study, model_id, pair_id, repetition)
JOIN orders USING (study)
WHERE a.path = path_a AND b.path = path_b
GROUP BY study, model_id, a.pair_type, path_a, path_b;
