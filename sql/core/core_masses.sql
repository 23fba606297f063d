-- purpose: what routing needs of a trajectory at any epsilon: its contrast and its signed masses
-- grain: one row per study, model, pair, path and repetition
-- paper: section 3; appendix B.1
CREATE OR REPLACE VIEW core_masses AS
WITH responses AS (
    SELECT *, response_of(q_plus, q_minus) AS response, weights_of(t) AS weights
    FROM core_trajectories
)
SELECT
    study,
    run_id,
    model_id,
    pair_id,
    source_id,
    pair_type,
    class_id,
    path,
    repetition,
    q_plus[-1] - q_minus[-1] AS endpoint_delta, -- score units, as the masses
    rising_mass_of(response, weights) AS rising_mass,
    falling_mass_of(response, weights) AS falling_mass,
    sign_measure_of(response, weights, 1) AS rising_frac, -- of the stage measure
    sign_measure_of(response, weights, -1) AS falling_frac
FROM responses;
