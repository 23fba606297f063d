-- purpose: number of classifiers, families, regimes and seeds of each module
-- grain: one row per study, module (or all) and statistic
-- paper: appendix I (benchmark design)
CREATE OR REPLACE VIEW paper_covertype_design AS
WITH counts AS (
    SELECT
        study,
        coalesce(module, 'all') AS module,
        count(*)::DOUBLE AS models,
        count(DISTINCT family)::DOUBLE AS families,
        count(DISTINCT mechanism)::DOUBLE AS regimes,
        count(DISTINCT strength)::DOUBLE AS strengths, -- 0 if a module has none
        count(DISTINCT seed)::DOUBLE AS seeds
    FROM core_covertype_models
    GROUP BY GROUPING SETS ((study, module), (study))
),
estimates AS (
    SELECT *, module AS unit
    FROM counts
    UNPIVOT (estimate FOR statistic IN (models, families, regimes, strengths, seeds))
)
SELECT
    study,
    module,
    statistic,
    estimate, -- a count
    published, -- NULL if the paper has no value
    difference,
    reason
FROM with_published('estimates', 'covertype')
ORDER BY study, module = 'all', module, statistic;
