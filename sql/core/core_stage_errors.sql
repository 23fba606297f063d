-- purpose: change of each component when every second stage is left out
-- grain: one row per study, model, pair, path and repetition, of paths with an odd number of stages
-- paper: section 3; appendix C.1
-- A change is the integral over all stages minus the integral over every second one. docs/limits.md
-- states how well it bounds errors; for a single trajectory it is an indication.
CREATE OR REPLACE VIEW core_stage_errors AS
WITH grids AS (
    SELECT study, path, len(t) AS stage_count, weights_of(t) AS fine, halved.weights AS coarse
    FROM core_paths
    JOIN thinned_grids('core_paths') AS halved USING (t)
    WHERE 2 * halved.stage_count - 1 = len(t)
),
responses AS (
    SELECT
        study, model_id, pair_id, pair_type, path, repetition, source_id, weight, epsilon,
        q_plus[-1] - q_minus[-1] AS d,
        response_of(q_plus, q_minus) AS response
    FROM core_trajectories
    JOIN core_current_runs USING (study, run_id)
),
masses AS (
    SELECT
        responses.* EXCLUDE (response),
        stage_count,
        rising_mass_of(response, fine) AS rising,
        falling_mass_of(response, fine) AS falling,
        rising_mass_of(response, coarse) AS coarse_rising,
        falling_mass_of(response, coarse) AS coarse_falling
    FROM responses
    JOIN grids USING (study, path)
)
SELECT
    study, model_id, pair_id, pair_type, path, repetition, source_id, weight, stage_count,
    evidence_at(d, rising, falling, epsilon) -- score units, like the next columns
        - evidence_at(d, coarse_rising, coarse_falling, epsilon) AS evidence,
    contradiction_at(d, rising, falling, epsilon)
        - contradiction_at(d, coarse_rising, coarse_falling, epsilon) AS contradiction,
    fragility_at(d, rising, falling, epsilon)
        - fragility_at(d, coarse_rising, coarse_falling, epsilon) AS fragility,
    rising + falling - coarse_rising - coarse_falling AS abs_response
FROM masses;
