-- purpose: remarks on models for which RISE scores only measure the size of a feature
-- grain: one row per study, model and method with a remark
-- A map of RISE is a mean of masks, weighted by q. If q is never above 0, no pixel of the map is
-- above 0, and the sum over a feature mainly decreases with its area. The view assumes this for
-- models whose q is at most 0 at all stages.
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
)
SELECT
    study, model_id, method,
    'q is never above 0, so that RISE follows minus the area of a part' AS remark
FROM masked
JOIN highest USING (study)
WHERE q <= 0;
