-- purpose: current run of each study: its newest one, or the one of the variable shown_run
-- grain: one row per study
CREATE OR REPLACE VIEW core_current_runs AS
WITH newest AS (
    SELECT *
    FROM stg_runs
    QUALIFY row_number() OVER (
        PARTITION BY study
        ORDER BY run_id = getvariable('shown_run') DESC NULLS LAST, started_at DESC, run_id DESC
    ) = 1
)
SELECT
    newest.study,
    newest.run_id,
    newest.started_at,
    newest.epsilon, -- score units
    newest.pairs_digest,
    newest.unit_count,
    outcome.finished_at, -- NULL while the run is not finished
    outcome.finished_at IS NOT NULL AS is_finished
FROM newest
LEFT JOIN stg_run_outcomes AS outcome USING (study, run_id);
