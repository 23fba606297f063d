-- purpose: mean responses and behaviours of each family of classifiers by treatment
-- grain: one row per study, family, mechanism and statistic
-- paper: appendix I (model-family audit)
-- Means over strengths and seeds. Means of null_change_rate leave out models without an inactive
-- row whose own context is the alternate one.
CREATE OR REPLACE VIEW paper_covertype_families AS
WITH means AS (
    SELECT study, family, module, mechanism, count(*) AS model_count,
        avg(COLUMNS([
            'endpoint_magnitude', 'evidence', 'contradiction', 'fragility', 'abs_response',
            'active_frac', 'preserve_rate', 'collapse_rate', 'invert_rate', 'other_rate',
            'change_rate', 'null_change_rate'
        ])),
        any_value(null_reason) AS null_reason
    FROM core_covertype_outcomes
    GROUP BY study, family, module, mechanism
),
estimates AS (
    SELECT * EXCLUDE (null_reason), family AS unit, mechanism AS part,
        CASE WHEN estimate IS NULL THEN null_reason END AS reason
    FROM means
    UNPIVOT INCLUDE NULLS (estimate FOR statistic IN (
        endpoint_magnitude, evidence, contradiction, fragility, abs_response, active_frac,
        preserve_rate, collapse_rate, invert_rate, other_rate, change_rate, null_change_rate
    ))
)
SELECT
    study,
    family,
    mechanism,
    model_count,
    statistic,
    estimate, -- score units, or a share of rows
    published, -- NULL if the paper has no value
    difference,
    reason
FROM with_published('estimates', 'covertype')
ORDER BY study, module, mechanism, family, statistic;
