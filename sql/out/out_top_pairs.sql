-- purpose: pairs with the most evidence, contradiction or fragility, at most three of each
-- grain: one row per study, model, pair type, path, component and rank
-- paper: section 3, equation 1
-- A source has one pair, its strongest. Values below smallest_response are left out.
CREATE OR REPLACE VIEW out_top_pairs AS
WITH counted AS (
    SELECT profile.*
    FROM (
        FROM core_profiles UNPIVOT (value FOR component IN (evidence, contradiction, fragility))
    ) AS profile
    JOIN (SELECT study, run_id, score, epsilon AS threshold FROM stg_runs) USING (study, run_id)
    WHERE value >= smallest_response(score, threshold)
),
largest AS (
    SELECT
        study, model_id, pair_type, path, component,
        max(value, 64) AS values,
        max_by(source_id, value, 64) AS sources
    FROM counted
    GROUP BY ALL
),
-- Only pairs down to the third source are sorted, or all if the largest have fewer sources.
third AS (
    SELECT
        * EXCLUDE (values, sources),
        list_filter(
            values, lambda value, place: list_position(sources, sources[place]) = place
        )[3] AS least
    FROM largest
),
strongest AS (
    SELECT counted.*
    FROM counted
    JOIN third USING (study, model_id, pair_type, path, component)
    WHERE value >= coalesce(least, value)
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
    endpoint_delta -- d, score units
FROM strongest
QUALIFY rank <= 3
ORDER BY study, model_id, pair_type, path, component, rank;
