-- purpose: cases of the benchmark of ImageNet-9: behaviours and profile of a model on a source
-- grain: one row per study that measures behaviours, planned model and source
-- paper: section 6.1; appendix F
-- Behaviours are at the run's epsilon and a change of 0.20. A case is in the benchmark if all
-- planned results for it exist.
CREATE OR REPLACE VIEW core_units AS
WITH models AS (
    SELECT study, run_id, model_id, count(DISTINCT name) FILTER (kind = 'attributions') AS methods
    FROM core_measurements
    GROUP BY study, run_id, model_id
    HAVING bool_or(kind = 'corruptions')
),
pairs AS (SELECT study, source_id, class_id, pair_id FROM core_pairs WHERE pair_type = 'same_rand'),
-- With an infinite threshold, corruptions decide y_fragility of all pairs.
shown AS (
    SELECT study, model_id, source_id, endpoint_delta, y_evidence, y_contradiction, y_fragility
    FROM behaviours('infinity'::DOUBLE, 0.2)
),
attributed AS (
    SELECT study, model_id, pair_id, count(DISTINCT method) AS methods
    FROM core_attributions
    GROUP BY study, model_id, pair_id
)
SELECT
    study, run_id, model_id, family, source_id, class_id, pair_id, path,
    abs(endpoint_delta) >= epsilon AS is_active, -- at the run's epsilon
    y_evidence,
    y_contradiction,
    CASE WHEN is_active THEN FALSE ELSE shown.y_fragility END AS y_fragility,
    endpoint_magnitude, -- score units, like the next columns
    evidence,
    contradiction, -- of the same_next pair; other columns of the same_rand pair
    fragility,
    abs_response,
    net_response,
    sign_flip_frac, -- share of the stage measure; NULL for inactive pairs
    CASE
        WHEN y_evidence IS NULL THEN 'no prediction of the same_rand pair'
        WHEN y_contradiction IS NULL THEN 'no prediction of the same_next pair'
        WHEN evidence IS NULL THEN 'no profile of the same_rand pair on a blend path'
        WHEN contradiction IS NULL THEN 'no profile of the same_next pair on a blend path'
        WHEN NOT is_active AND shown.y_fragility IS NULL THEN 'no corruption has been scored'
        WHEN coalesce(attributed.methods, 0) < models.methods THEN 'an attribution is missing'
    END AS reason -- why the case is left out; else NULL
FROM models
JOIN core_current_runs USING (study, run_id)
JOIN stg_models USING (study, run_id, model_id)
JOIN pairs USING (study)
LEFT JOIN core_source_responses USING (study, model_id, source_id)
LEFT JOIN attributed USING (study, model_id, pair_id)
LEFT JOIN shown USING (study, model_id, source_id);
