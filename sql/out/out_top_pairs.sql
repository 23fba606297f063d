-- purpose: pairs with the most evidence, contradiction or fragility, at most three of each
-- grain: one row per study, model, pair type, path, component and rank
-- paper: section 3, equation 1
-- A source is there once, by its strongest pair. What does not count (smallest_response) is left out.
CREATE OR REPLACE VIEW out_top_pairs AS
WITH strongest AS (
    SELECT *
    FROM core_profiles
    UNPIVOT (value FOR component IN (evidence, contradiction, fragility))
    JOIN (SELECT study, run_id, score, epsilon AS gate FROM stg_runs) USING (study, run_id)
    WHERE value >= smallest_response(score, gate)
    QUALIFY row_number() OVER (
        PARTITION BY study, model_id, pair_type, path, component, source_id
        ORDER BY value DESC, pair_id, repetition
    ) = 1
)
SELECT
    study, model_id, pair_type, path, component,
    row_number() OVER (
        PARTITION BY study, model_id, pair_type, path, component
        ORDER BY value DESC, pair_id, repetition
    ) AS rank, -- 1 is the strongest
    pair_id,
    source_id,
    repetition,
    value, -- of the component, score units
    abs_response, -- E + C + F, score units
    endpoint_delta -- factual less counterfactual, score units
FROM strongest
QUALIFY rank <= 3
ORDER BY study, model_id, pair_type, path, component, rank;
