-- purpose: trajectories stage by stage, routed at the run's epsilon
-- grain: one row per study, model, pair, path, repetition and stage
-- paper: section 3
CREATE OR REPLACE VIEW core_stages AS
WITH trajectories AS (
    SELECT trajectory.*, run.epsilon, q_plus[-1] - q_minus[-1] AS endpoint_delta
    FROM core_trajectories AS trajectory
    JOIN core_current_runs AS run USING (study, run_id)
),
stages AS (
    SELECT
        * EXCLUDE (t, q_plus, q_minus),
        generate_subscripts(t, 1) - 1 AS stage,
        unnest(t) AS t,
        unnest(q_plus) AS q_plus,
        unnest(q_minus) AS q_minus
    FROM trajectories
),
responses AS (
    SELECT
        *,
        q_plus - q_minus AS response,
        greatest(response, 0) AS rising,
        greatest(-response, 0) AS falling
    FROM stages
)
SELECT
    study,
    run_id,
    model_id,
    pair_id,
    source_id,
    pair_type,
    class_id,
    weight, -- of the pair
    path,
    repetition,
    stage, -- from 0
    t,
    q_plus, -- score units, like the next columns
    q_minus,
    endpoint_delta,
    is_active_at(endpoint_delta, epsilon) AS is_endpoint_active,
    response,
    evidence_at(endpoint_delta, rising, falling, epsilon) AS evidence,
    contradiction_at(endpoint_delta, rising, falling, epsilon) AS contradiction,
    fragility_at(endpoint_delta, rising, falling, epsilon) AS fragility
FROM responses;
