-- purpose: mean components on every evenly thinned subset of the stored stages
-- grain: one row per study, model, pair type, path and number of stages
-- paper: section 3; appendix C.1
-- Every subset has the same active pairs, since it has the last stage.
CREATE OR REPLACE VIEW out_stage_grids AS
WITH responses AS (
    SELECT
        study, model_id, pair_type, path, weight, epsilon, q_plus[-1] - q_minus[-1] AS endpoint_delta,
        response_of(q_plus, q_minus) AS response,
        list_transform(response, lambda r: greatest(r, 0)) AS above,
        list_transform(response, lambda r: greatest(-r, 0)) AS below
    FROM core_trajectories
    JOIN core_current_runs USING (study, run_id)
),
grids AS (
    SELECT study, path, stage_count, weights
    FROM core_paths
    JOIN thinned_grids('core_paths') USING (t)
),
masses AS (
    SELECT
        responses.* EXCLUDE (response, above, below),
        stage_count,
        integral_of(above, weights) AS rising,
        integral_of(below, weights) AS falling
    FROM responses
    JOIN grids USING (study, path)
),
means AS (
    SELECT
        study, model_id, pair_type, path, stage_count,
        count(*) AS trajectory_count,
        weighted_mean(evidence_at(endpoint_delta, rising, falling, epsilon), weight) AS evidence,
        weighted_mean(contradiction_at(endpoint_delta, rising, falling, epsilon), weight)
            AS contradiction,
        weighted_mean(fragility_at(endpoint_delta, rising, falling, epsilon), weight) AS fragility,
        weighted_mean(rising + falling, weight) AS abs_response
    FROM masses
    GROUP BY study, model_id, pair_type, path, stage_count
)
SELECT
    *, -- score units
    evidence - arg_max(evidence, stage_count) OVER lines AS evidence_change, -- from all stages
    contradiction - arg_max(contradiction, stage_count) OVER lines AS contradiction_change,
    fragility - arg_max(fragility, stage_count) OVER lines AS fragility_change,
    abs_response - arg_max(abs_response, stage_count) OVER lines AS abs_response_change
FROM means
WINDOW lines AS (PARTITION BY study, model_id, pair_type, path)
ORDER BY study, model_id, pair_type, path, stage_count;
