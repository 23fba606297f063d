-- purpose: what findings and reports call pair types and paths, and what is expected of pair types
-- grain: one row per study, kind (pair_type or path) and name
-- Names are those of the configuration of the current run; without one, the name with spaces.
CREATE OR REPLACE VIEW core_display_names AS
WITH named AS (
    SELECT DISTINCT study, run_id, 'pair_type' AS kind, pair_type AS name, NULL AS position
    FROM core_pairs
    UNION ALL
    SELECT study, run_id, 'path', path, position FROM core_paths
),
said AS (
    SELECT
        study,
        run_id,
        json_extract(config, '$.names')::MAP(VARCHAR, VARCHAR) AS names,
        json_extract(config, '$.expect')::MAP(VARCHAR, VARCHAR) AS expect
    FROM stg_runs
)
SELECT
    study,
    kind,
    name,
    position, -- of a path: order in the configuration, from 0
    coalesce(names[name], replace(name, '_', ' ')) AS display_name,
    CASE WHEN kind = 'pair_type' THEN coalesce(expect[name], 'unknown') END AS expect
FROM named
JOIN said USING (study, run_id);
