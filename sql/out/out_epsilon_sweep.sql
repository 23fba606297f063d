-- purpose: mean components at the run's threshold and at three others
-- grain: one row per study, model, pair type, path and epsilon
-- paper: appendix G (threshold sensitivity)
CREATE OR REPLACE VIEW out_epsilon_sweep AS
WITH swept AS (
    FROM epsilon_sweep(
        [0.01, 0.02, 0.05]::DOUBLE[] || (SELECT list(epsilon) FROM core_current_runs)
    )
)
SELECT swept.* -- score units, except pair_count and active_frac
FROM swept
JOIN core_current_runs AS run USING (study)
-- The list has the epsilon of every study; a study keeps only its own.
WHERE swept.epsilon IN (0.01, 0.02, 0.05, run.epsilon)
ORDER BY swept.study, swept.model_id, swept.pair_type, swept.path, swept.epsilon;
