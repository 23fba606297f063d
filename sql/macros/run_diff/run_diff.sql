-- purpose: change of the means from one run to another, paired over the same trajectories
-- grain: one row per model, pair type, path, metric and level
-- paper: appendix D.8 (statistical summaries)
-- The bootstrap draws sources; models and paths with the same sources share draws. Runs are named
-- as in compared_runs. Pairs have the weights of run_b in both means.
-- FROM run_diff('3f2a', '91bc')
CREATE OR REPLACE MACRO run_diff(
    run_a, run_b, replicates := 500, seed := 91702, levels := [0.95]
) AS TABLE
WITH compared AS MATERIALIZED (FROM run_diff_pairs(run_a, run_b)),
entries AS MATERIALIZED (
    SELECT
        {model_id: model_id, pair_type: pair_type, path: path, metric: metric} AS g,
        source_id AS cluster,
        weight,
        value_a,
        value_b,
        value_b - value_a AS x -- each trajectory has both, so the mean of x is paired
    FROM compared
    UNPIVOT ((value_a, value_b) FOR metric IN (
        (endpoint_delta_a, endpoint_delta_b) AS endpoint_delta,
        (endpoint_magnitude_a, endpoint_magnitude_b) AS endpoint_magnitude,
        (evidence_a, evidence_b) AS evidence,
        (contradiction_a, contradiction_b) AS contradiction,
        (fragility_a, fragility_b) AS fragility,
        (abs_response_a, abs_response_b) AS abs_response
    ))
),
means AS (
    SELECT g, weighted_mean(value_a, weight) AS mean_a, weighted_mean(value_b, weight) AS mean_b,
        count(*) AS trajectory_count
    FROM entries
    GROUP BY g
)
SELECT
    unnest(g),
    level,
    trajectory_count, -- trajectories that both runs have
    mean_a, -- over these trajectories; score units, as are the next columns
    mean_b,
    estimate AS change, -- from a to b
    standard_error,
    lower_limit,
    upper_limit,
    cluster_count AS source_count,
    replicate_count,
    reason
FROM bootstrap_by_group('entries', replicates, seed, levels)
JOIN means USING (g)
WHERE statistic = 'mean';
