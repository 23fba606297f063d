-- purpose: mean components at other thresholds than the run's, without scoring again
-- grain: one row per study, model, pair type, path and epsilon
-- paper: appendix G (threshold sensitivity)
CREATE OR REPLACE VIEW out_epsilon_sweep AS
WITH swept AS (
    FROM epsilon_sweep(
        [0.01, 0.02, 0.05]::DOUBLE[] || (SELECT list(epsilon) FROM core_current_runs)
    )
)
SELECT swept.* -- score units, but for pair_count and active_frac
FROM swept
JOIN core_current_runs AS run USING (study)
-- The list holds the epsilon of every study; each study keeps its own.
WHERE swept.epsilon IN (0.01, 0.02, 0.05, run.epsilon)
ORDER BY swept.study, swept.model_id, swept.pair_type, swept.path, swept.epsilon;
