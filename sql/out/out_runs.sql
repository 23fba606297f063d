-- purpose: runs of every study with their epsilon and score, newest first
-- grain: one row per study and run
CREATE OR REPLACE VIEW out_runs AS
SELECT
    run.study,
    run.run_id,
    current_run.run_id IS NOT NULL AS is_current,
    run.started_at,
    outcome.finished_at, -- NULL while the run is not finished
    outcome.finished_at IS NOT NULL AS is_finished,
    -- Models whose scoring stopped early.
    (SELECT count(*) FROM stg_run_stops AS s WHERE (s.study, s.run_id) = (run.study, run.run_id))
        AS stopped_count,
    run.epsilon, -- score units
    run.pairs_digest,
    run.unit_count,
    outcome.forward_rows, -- of all its scans, including scans shared with other runs
    outcome.quarantined_count,
    run.score, -- JSON
    run.software -- JSON
FROM stg_runs AS run
LEFT JOIN stg_run_outcomes AS outcome USING (study, run_id)
LEFT JOIN core_current_runs AS current_run USING (study, run_id)
ORDER BY run.study, run.started_at DESC, run.run_id DESC;
