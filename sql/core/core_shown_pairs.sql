-- purpose: strongest pairs that a report shows
-- grain: one row per study, pair type, model, component and rank
-- paper: section 3, equation 1
-- Shows the three strongest pairs over all paths, at most one per source. Pair types are the six
-- with the largest mean Abs of a model. Models are six per pair type, ordered by their best rank by
-- evidence, contradiction or fragility.
CREATE OR REPLACE VIEW core_shown_pairs AS
WITH means AS (
    SELECT study, model_id, pair_type, max(abs_response) AS abs_response,
        max(evidence) AS evidence, max(contradiction) AS contradiction, max(fragility) AS fragility
    FROM out_model_profiles
    GROUP BY study, model_id, pair_type
),
types AS (
    SELECT study, pair_type
    FROM means
    GROUP BY study, pair_type
    QUALIFY row_number() OVER (
        PARTITION BY study ORDER BY max(abs_response) DESC, pair_type
    ) <= 6
),
ranked AS (
    SELECT study, pair_type, model_id, abs_response, least(
        rank() OVER (PARTITION BY study, pair_type ORDER BY evidence DESC),
        rank() OVER (PARTITION BY study, pair_type ORDER BY contradiction DESC),
        rank() OVER (PARTITION BY study, pair_type ORDER BY fragility DESC)
    ) AS best_rank
    FROM means SEMI JOIN types USING (study, pair_type)
),
chosen AS (
    SELECT study, pair_type, model_id, row_number() OVER (
        PARTITION BY study, pair_type ORDER BY best_rank, abs_response DESC, model_id
    ) AS model_place -- from 1
    FROM ranked
    QUALIFY model_place <= 6
),
over_paths AS (
    SELECT top.* EXCLUDE rank, model_place, rank AS own_rank
    FROM out_top_pairs AS top JOIN chosen USING (study, pair_type, model_id)
    QUALIFY row_number() OVER (
        PARTITION BY study, pair_type, model_id, component, source_id
        ORDER BY value DESC, path, own_rank
    ) = 1
)
SELECT
    study, pair_type, model_id, model_place, component,
    row_number() OVER (
        PARTITION BY study, pair_type, model_id, component ORDER BY value DESC, path, own_rank
    ) AS rank, -- 1 is the strongest
    path, pair_id, source_id, repetition,
    value, abs_response, -- score units
    endpoint_delta -- d, score units
FROM over_paths
QUALIFY rank <= 3;
