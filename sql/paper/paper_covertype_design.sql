-- purpose: how many classifiers, families, regimes and seeds each module has
-- grain: one row per study, module (or all) and statistic
-- inputs: core_covertype_models
-- paper: appendix I (benchmark design)
CREATE OR REPLACE VIEW paper_covertype_design AS
WITH paper (module, statistic, published) AS (
    VALUES ('direction', 'models', 90), ('direction', 'families', 5), ('direction', 'regimes', 3),
        ('direction', 'strengths', 2), ('direction', 'seeds', 3), ('fragility', 'models', 45),
        ('fragility', 'families', 5), ('fragility', 'regimes', 3), ('fragility', 'seeds', 3),
        ('all', 'models', 135)
),
counts AS (
    SELECT
        study,
        coalesce(module, 'all') AS module,
        count(*)::DOUBLE AS models,
        count(DISTINCT family)::DOUBLE AS families,
        count(DISTINCT mechanism)::DOUBLE AS regimes,
        count(DISTINCT strength)::DOUBLE AS strengths, -- 0 where a module has none
        count(DISTINCT seed)::DOUBLE AS seeds
    FROM core_covertype_models
    GROUP BY GROUPING SETS ((study, module), (study))
)
SELECT
    study,
    module,
    statistic,
    estimate, -- a count
    paper.published::DOUBLE AS published, -- NULL where the paper has none
    estimate - paper.published AS difference,
    NULL::VARCHAR AS reason
FROM (FROM counts UNPIVOT (
    estimate FOR statistic IN (models, families, regimes, strengths, seeds)
))
LEFT JOIN paper USING (module, statistic)
ORDER BY study, module = 'all', module, statistic;
