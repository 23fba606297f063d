-- purpose: trajectories so close to a threshold that numerical noise may change their role
-- grain: one row per study, model, pair, path and repetition
-- paper: appendix B.8 (threshold stability)
-- Lists trajectories whose |d| differs from at_epsilon by at most tolerance (score units).
-- at_epsilon NULL is the epsilon of each study's run. Stored profiles suffice, since Abs and
-- opposed mass do not depend on the threshold.
-- FROM threshold_flips(0.02, 1e-6)
CREATE OR REPLACE MACRO threshold_flips(at_epsilon, tolerance) AS TABLE
WITH thresholds AS (
    SELECT study, run_id, valid_epsilon(coalesce(at_epsilon::DOUBLE, epsilon)) AS threshold
    FROM core_current_runs
),
margins AS (
    SELECT
        *,
        CASE
            WHEN tolerance >= 0 AND tolerance < threshold THEN tolerance::DOUBLE
            ELSE error('threshold_flips: tolerance is ' || coalesce(tolerance::VARCHAR, 'NULL')
                || '; expected a number from 0 to below the threshold, ' || threshold::VARCHAR)
        END AS margin
    FROM thresholds
)
SELECT
    study,
    model_id,
    pair_id,
    source_id,
    pair_type,
    path,
    repetition,
    weight, -- of the pair
    threshold AS epsilon, -- score units, as all that follow
    endpoint_delta,
    endpoint_magnitude - threshold AS distance,
    is_active_at(endpoint_delta, threshold) AS is_active,
    if(is_active, abs_response - opposed_mass, 0) AS evidence,
    if(is_active, opposed_mass, 0) AS contradiction,
    if(is_active, 0, abs_response) AS fragility,
    if(is_active, 0, abs_response - opposed_mass) AS other_evidence, -- on the other side
    if(is_active, 0, opposed_mass) AS other_contradiction,
    if(is_active, abs_response, 0) AS other_fragility
FROM core_profiles
JOIN margins USING (study, run_id)
WHERE abs(endpoint_magnitude - threshold) <= margin;
