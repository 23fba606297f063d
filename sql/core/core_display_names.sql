-- purpose: display names of pair types, paths and models, and the expectation for pair types
-- grain: one row per study, kind (pair_type, path or model_id) and name
-- A display name comes from the configuration of the current run. By default it is the name with
-- spaces, or the id of a model.
CREATE OR REPLACE VIEW core_display_names AS
WITH named AS (
    SELECT DISTINCT study, run_id, 'pair_type' AS kind, pair_type AS name, NULL AS position
    FROM core_pairs
    UNION ALL
    SELECT study, run_id, 'path', path, position FROM core_paths
    UNION ALL
    SELECT study, run_id, 'model_id', model_id, position
    FROM stg_models SEMI JOIN core_current_runs USING (study, run_id)
),
configured AS (
    SELECT
        study,
        run_id,
        json_extract(config, '$.names')::MAP(VARCHAR, VARCHAR) AS names,
        json_extract(config, '$.expect')::MAP(VARCHAR, JSON) AS expect
    FROM stg_runs
),
expected AS (
    SELECT
        named.*,
        names[name] AS display_name,
        expect[name] ->> '$' AS word,
        (expect[name] ->> '$.should_not_matter.at_most')::DOUBLE AS safe_limit,
        (expect[name] ->> '$.should_matter.at_least')::DOUBLE AS wanted_limit
    FROM named
    JOIN configured USING (study, run_id)
)
SELECT
    study,
    kind,
    name,
    position, -- order of a path or model in the configuration, from 0
    coalesce(display_name, if(kind = 'model_id', name, replace(name, '_', ' '))) AS display_name,
    CASE -- should_matter, should_not_matter, control or unknown; NULL for a path or model
        WHEN kind <> 'pair_type' THEN NULL
        WHEN safe_limit IS NOT NULL THEN 'should_not_matter'
        WHEN wanted_limit IS NOT NULL THEN 'should_matter'
        ELSE coalesce(word, 'unknown')
    END AS expect,
    safe_limit, -- largest Abs and M that are safe, in score units; NULL without a limit
    wanted_limit -- smallest Abs or M that suffices, in score units
FROM expected;
