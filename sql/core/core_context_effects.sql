-- purpose: effect of a change in the endpoint's context and in the swapped context
-- grain: one row per study, model, pair and path of kind context
-- paper: section 5; appendix D (contradiction validation); appendix I
-- The first stage of such a path is the swapped context. Numbers are computed before joins, since
-- joins of lists take several times longer.
CREATE OR REPLACE VIEW core_context_effects AS
WITH effects AS (
    SELECT
        study,
        model_id,
        unit_key,
        pair_id,
        path,
        q_plus[-1] - q_minus[-1] AS endpoint_effect, -- d, score units
        q_plus[1] - q_minus[1] AS swapped_effect, -- a, score units
        -- Labels of a score of two classes: the label of the factual input is 1; the label of the
        -- counterfactual input differs.
        q_plus[-1] >= 0.5 AS is_endpoint_positive,
        (q_plus[-1] >= 0.5) <> (q_minus[-1] >= 0.5) AS is_endpoint_changed,
        q_plus[1] >= 0.5 AS is_swapped_positive,
        (q_plus[1] >= 0.5) <> (q_minus[1] >= 0.5) AS is_swapped_changed
    FROM stg_trajectories
    WHERE repetition = 0
)
SELECT study, run_id, effects.* EXCLUDE (study, unit_key)
FROM effects
JOIN core_run_units USING (study, model_id, unit_key)
SEMI JOIN (FROM core_paths WHERE kind = 'context') USING (study, path);
