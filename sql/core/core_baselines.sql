-- purpose: what the planned baselines of the current runs say, or why they say nothing
-- grain: one row per study and component of a baseline of a model, of its current run
-- inputs: core_current_runs, stg_run_baselines, stg_baseline_scores, stg_models
-- paper: section 5, appendix I
CREATE OR REPLACE VIEW core_baselines AS
SELECT
    planned.study,
    planned.run_id,
    planned.model_id,
    model.family,
    planned.method,
    planned.component,
    made.score, -- the method's own units; NULL where it is undefined
    made.explained_rows,
    CASE WHEN made.baseline_key IS NULL THEN 'not made yet' ELSE made.reason END AS reason
FROM stg_run_baselines AS planned
JOIN core_current_runs USING (study, run_id)
LEFT JOIN stg_models AS model USING (study, run_id, model_id)
LEFT JOIN stg_baseline_scores AS made USING (study, model_id, baseline_key, component);
