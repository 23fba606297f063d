-- purpose: number of stages of each refined path, and why no stages were added
-- grain: one row per study and path whose stages are a rule (`until`, `at_most`)
-- paper: section 3; appendix C.1
-- A path is converged if, for each model and pair type, the interval of the change of every mean
-- component lies between -until and until. The reason is NULL while stages can still be added.
CREATE OR REPLACE VIEW out_refinements AS
WITH rules AS (
    SELECT
        study, path, position,
        config -> ('$.paths."' || path || '".stages') AS rule,
        (rule -> '$.until')::DOUBLE AS until,
        (rule -> '$.at_most')::BIGINT AS at_most,
        (rule -> '$.exact')::BIGINT AS exact_stages,
        len(t) AS stage_count
    FROM core_paths
    JOIN (SELECT study, run_id, config FROM stg_runs) USING (study, run_id)
    WHERE json_type(rule) = 'OBJECT'
),
changes AS (
    SELECT
        study, path,
        max(greatest(-lower_95, upper_95)) AS error,
        bool_and(lower_95 IS NOT NULL) AS has_intervals
    FROM out_stage_errors
    GROUP BY ALL
)
SELECT
    study, path, until, at_most, exact_stages, stage_count,
    CASE WHEN has_intervals THEN error END AS error, -- largest limit of a change, score units
    CASE
        WHEN stage_count >= exact_stages THEN 'exact'
        WHEN has_intervals AND error <= until THEN 'converged'
        WHEN least(2 * stage_count - 1, exact_stages) > at_most THEN 'at_most'
    END AS reason
FROM rules
LEFT JOIN changes USING (study, path)
ORDER BY study, position;
