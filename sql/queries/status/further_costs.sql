-- purpose: cost of units other than trajectories; units of one commit have equal shares
WITH further AS (
    FROM core_run_units
    WHERE kind NOT IN ('predict', 'score', 'route') AND ($study IS NULL OR study = $study)
),
shared AS (
    SELECT study, commit_key, count(*) AS units
    FROM core_run_units
    SEMI JOIN further USING (study, commit_key)
    GROUP BY study, commit_key
)
SELECT
    study,
    unit.kind,
    unit.name,
    coalesce(round(sum(cost.forward_rows / units))::BIGINT, 0),
    coalesce(sum(cost.backward_rows), 0),
    coalesce(sum(cost.cpu_seconds / units), 0)
FROM further AS unit
JOIN shared USING (study, commit_key)
JOIN stg_costs AS cost USING (study, model_id, commit_key)
GROUP BY ALL
