-- purpose: remarks on RISE scores that measure the size of a feature, and on the path of DECAF
-- grain: one row per study, model and method with a remark
-- A map of RISE is a mean of masks, weighted by q. If q is never above 0, no pixel of the map is
-- above 0, and the sum over a feature mainly decreases with its area. The view assumes this for
-- models whose q is at most 0 at all stages. Scores of DECAF are of the study's first path with
-- features; the remark names further paths that reveal features.
CREATE OR REPLACE VIEW core_attribution_remarks AS
WITH named AS (
    SELECT study, run_id, config, unnest(json_keys(config -> '$.attributions')) AS method
    FROM stg_runs
    JOIN core_current_runs USING (study, run_id)
),
masked AS (
    SELECT study, method
    FROM named
    WHERE config ->> format('$.attributions."{}".kind', method) = 'rise'
        AND (config ->> format('$.attributions."{}".own_score', method)) IS NULL
),
highest AS (
    SELECT study, model_id, max(list_max(q_plus)) AS q
    FROM core_trajectories
    SEMI JOIN masked USING (study)
    GROUP BY study, model_id
),
compared AS (
    SELECT DISTINCT study, run_id, pair_type, max(path) OVER (PARTITION BY study) AS path
    FROM core_attribution_pairs JOIN core_pairs USING (study, run_id, pair_id)
),
further AS (
    SELECT study, run_id, compared.path,
        string_agg(DISTINCT further.path, ', ' ORDER BY further.path) AS paths
    FROM compared JOIN core_paths AS further USING (study, run_id)
    WHERE further.path <> compared.path
        AND (pair_types IS NULL OR list_contains(pair_types, pair_type))
    GROUP BY ALL
)
SELECT
    study, model_id, method,
    'q is never above 0, so that RISE follows minus the area of a part' AS remark
FROM masked
JOIN highest USING (study)
WHERE q <= 0
UNION ALL
SELECT study, model_id, method,
    format('of path {}, not {}, whose E is in out_feature_evidence', path, paths)
FROM further
JOIN core_attribution_methods USING (study)
JOIN stg_models USING (study, run_id)
WHERE stage_count > 0;
