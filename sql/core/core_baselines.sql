-- purpose: scores of the planned baselines of the current runs, or why there are none
-- grain: one row per study and component of a baseline of a model, of its current run
-- paper: section 5, appendix I
CREATE OR REPLACE VIEW core_baselines AS
WITH planned AS (
    SELECT unit.*, unnest(string_split(part.value, ',')) AS component
    FROM core_run_units AS unit
    JOIN stg_unit_parts AS part USING (study, run_id, unit_key)
    WHERE unit.kind = 'explain' AND part.part = 'components'
)
SELECT
    planned.study,
    planned.run_id,
    planned.model_id,
    model.family,
    planned.name AS method,
    planned.component,
    made.score, -- unit of the method; NULL if undefined
    made.explained_rows,
    CASE WHEN made.unit_key IS NULL THEN 'not made yet' ELSE made.reason END AS reason
FROM planned
LEFT JOIN stg_models AS model USING (study, run_id, model_id)
LEFT JOIN stg_baseline_scores AS made USING (study, model_id, unit_key, component);
