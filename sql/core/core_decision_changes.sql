-- purpose: how many pairs change a model's decision for or against the class whose probability is q
-- grain: one row per study of class probabilities, model and pair type
-- q is that of the class `target`, else of the label. Pairs count equally, whatever their weights.
CREATE OR REPLACE VIEW core_decision_changes AS
WITH decisions AS (
    SELECT
        prediction.*,
        coalesce((score ->> '$.target')::BIGINT, class_id, 0) AS scored_class
    FROM core_pair_predictions AS prediction
    JOIN stg_runs USING (study, run_id)
    WHERE score ->> '$.kind' = 'class_probability' AND plus_class IS NOT NULL
)
SELECT
    study,
    model_id,
    pair_type,
    count(*) AS pair_count,
    count(*) FILTER ((plus_class = scored_class) <> (minus_class = scored_class)) AS changed_count
FROM decisions
GROUP BY study, model_id, pair_type;
