-- purpose: what each family of classifiers makes of each treatment: mean responses and behaviours
-- grain: one row per study, family, mechanism and statistic
-- inputs: core_covertype_outcomes
-- paper: appendix I (model-family audit)
-- Means over strengths and seeds. Models without an endpoint-null row whose own context is the
-- alternate one are in no mean of null_change_rate.
CREATE OR REPLACE VIEW paper_covertype_families AS
WITH paper (mechanism, statistic, places) AS (
    VALUES ('invert', 'contradiction', [0.000, 0.000, 0.088, 0.024, 0.000]),
        ('invert', 'invert_rate', [0.000, 0.000, 0.743, 0.816, 0.002]),
        ('invert', 'collapse_rate', [1.000, 1.000, 0.257, 0.169, 0.998]),
        ('fragile', 'endpoint_magnitude', [0.020, 0.299, 0.028, 0.057, 0.020]),
        ('fragile', 'evidence', [0.070, 0.299, 0.084, 0.170, 0.091]),
        ('fragile', 'fragility', [0.180, 0.0001, 0.080, 0.062, 0.163]),
        ('fragile', 'active_frac', [0.340, 0.989, 0.350, 0.673, 0.346]),
        ('fragile', 'null_change_rate', [0.623, 0.000, 0.219, 0.327, 0.552])
),
families (family, place) AS (
    VALUES ('hist_gradient_boosting', 1), ('logistic_regression', 2), ('mlp', 3),
        ('random_forest', 4), ('xgboost', 5)
),
means AS (
    SELECT study, family, module, mechanism, count(*) AS model_count,
        avg(COLUMNS([
            'endpoint_magnitude', 'evidence', 'contradiction', 'fragility', 'abs_response',
            'active_frac', 'preserve_rate', 'collapse_rate', 'invert_rate', 'other_rate',
            'change_rate', 'null_change_rate'
        ])),
        any_value(null_reason) AS null_reason
    FROM core_covertype_outcomes
    GROUP BY study, family, module, mechanism
)
SELECT
    study,
    family,
    mechanism,
    model_count,
    statistic,
    estimate, -- score units, or a share of rows
    places[place]::DOUBLE AS published, -- NULL where the paper has none
    estimate - published AS difference,
    CASE WHEN estimate IS NULL THEN null_reason END AS reason
FROM (FROM means UNPIVOT INCLUDE NULLS (estimate FOR statistic IN (
    endpoint_magnitude, evidence, contradiction, fragility, abs_response, active_frac,
    preserve_rate, collapse_rate, invert_rate, other_rate, change_rate, null_change_rate
)))
LEFT JOIN paper USING (mechanism, statistic)
LEFT JOIN families USING (family)
ORDER BY study, module, mechanism, family, statistic;
