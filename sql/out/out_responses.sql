-- purpose: response of every model to each pair type and path, and the rule that applies
-- grain: one row per study, model, pair type and path
-- paper: section 6
-- "Moves the score by" is Abs: the mean over the path, not the endpoint difference. A response
-- counts if Abs is at least smallest (smallest_response). The first rule that holds applies;
-- "surely" means the whole 95 % interval of Abs:
--   ignores      Abs surely below smallest, and the pair type should matter
--   no_response  Abs below smallest
--   unstable     fragility is the largest component, and Abs is above M: the score moves on the path
--   contradicts  contradiction is the largest component: most of Abs opposes d
--   decides_by   Abs surely at least smallest, the pair type should not matter, and Abs and M are
--                at least those of all pair types that should
--   leans_on     Abs surely at least smallest, and the pair type should not matter
--   reacts_to    any other response
CREATE OR REPLACE VIEW out_responses AS
WITH expected AS (
    SELECT found.* NOT SIMILAR TO '.*_95', model.position, change.expect,
        change.display_name AS pair_type_name, change.safe_limit, change.wanted_limit,
        way.display_name AS path_name, way.position AS path_position,
        smallest_response(run.score, run.epsilon) AS smallest,
        CASE WHEN source_count >= 5 THEN COLUMNS('_95$') END,
        abs_response = max(abs_response) OVER on_paths AS is_largest_path,
        max(abs_response) FILTER (change.expect = 'should_matter') OVER on_types AS wanted_abs,
        max(endpoint_magnitude) FILTER (change.expect = 'should_matter') OVER on_types AS wanted_m
    FROM core_model_summaries AS found
    JOIN out_runs AS run ON run.study = found.study AND run.is_current
    LEFT JOIN stg_models AS model
        ON model.study = run.study AND model.run_id = run.run_id
        AND model.model_id = found.model_id
    JOIN core_display_names AS change
        ON change.study = found.study AND change.kind = 'pair_type' AND change.name = pair_type
    JOIN core_display_names AS way
        ON way.study = found.study AND way.kind = 'path' AND way.name = path
    WINDOW on_paths AS (PARTITION BY found.study, found.model_id, found.pair_type),
        on_types AS (PARTITION BY found.study, found.model_id, found.path)
)
SELECT
    study, model_id, position, pair_type, pair_type_name, path, path_name, path_position,
    expect, -- should_matter, should_not_matter, control or unknown
    CASE
        WHEN abs_response < smallest
            THEN if(expect = 'should_matter' AND upper_95 < smallest, 'ignores', 'no_response')
        WHEN fragility > greatest(evidence, contradiction) AND abs_response > endpoint_magnitude THEN 'unstable'
        WHEN contradiction > evidence THEN 'contradicts'
        WHEN expect <> 'should_not_matter' OR coalesce(lower_95 < smallest, true) THEN 'reacts_to'
        WHEN abs_response >= wanted_abs AND endpoint_magnitude >= wanted_m THEN 'decides_by'
        ELSE 'leans_on'
    END AS rule,
    is_largest_path, -- no path has a larger Abs; findings use this path
    pair_count, source_count, active_frac, smallest, -- score units, like the next columns
    -- NULL below 5 sources
    abs_response, lower_95, upper_95, evidence, contradiction, fragility, safe_limit, wanted_limit,
    endpoint_delta, delta_lower_95, delta_upper_95,
    endpoint_magnitude, magnitude_lower_95, magnitude_upper_95,
    -- Shares of Abs; NULL if Abs is below smallest.
    CASE WHEN abs_response >= smallest
        THEN COLUMNS(['evidence', 'contradiction', 'fragility']) / abs_response
    END AS '\0_frac'
FROM expected
ORDER BY study, position, model_id, pair_type, path_position;
