-- purpose: fixed semantics: how well each method's score tells the mechanism of a treatment
-- grain: one row per study, method, label (or macro) and statistic
-- inputs: core_covertype_outcomes, covertype_units, discrimination, role_credit
-- paper: appendix I (fixed columns)
-- One label against the others, over all units. The macro is the mean over the three labels,
-- undefined unless all are; accuracy is how often the largest of the three scores is that of the
-- mechanism, ties shared. The three probes are fitted to labels of other families.
CREATE OR REPLACE VIEW paper_covertype_readout AS
WITH paper (method, auroc, auprc, accuracy) AS (
    VALUES ('DECAF', 0.816, 0.768, 44 / 75), ('M', 0.487, 0.437, NULL), ('Abs', 0.518, 0.450, NULL),
        ('native_shap', 0.523, 0.437, NULL), ('shap_interaction', 0.540, 0.440, NULL),
        ('context_permutation', 0.556, 0.545, NULL), ('pdp_ale', 0.539, 0.438, NULL),
        ('strong_tabular', 0.987, 0.968, NULL), ('decaf_probe', 0.902, 0.859, NULL),
        ('combined', 0.985, 0.965, NULL)
),
models AS MATERIALIZED (FROM core_covertype_outcomes),
units AS MATERIALIZED (FROM covertype_units('models')),
entries AS (
    SELECT {study: study, method: method, label: label} AS g, is_shown AS label, score FROM units
),
by_label AS MATERIALIZED (
    SELECT unnest(g), positive_count + negative_count AS unit_count, auroc, auprc, reason
    FROM discrimination_by_group('entries')
),
credits AS (
    SELECT study, method,
        role_credit(list(score ORDER BY label), list(is_shown::INTEGER ORDER BY label)) AS credit
    FROM units
    GROUP BY study, method, model_id
),
parts AS (
    SELECT *, NULL::DOUBLE AS accuracy FROM by_label
    UNION ALL BY NAME
    SELECT study, method, 'macro' AS label, min(unit_count) AS unit_count,
        CASE WHEN count(auroc) = 3 THEN avg(auroc) END AS auroc,
        CASE WHEN count(auprc) = 3 THEN avg(auprc) END AS auprc,
        any_value(accuracy) AS accuracy, min(label || ': ' || reason) AS reason
    FROM by_label
    JOIN (SELECT study, method, avg(credit) AS accuracy FROM credits GROUP BY study, method)
        USING (study, method)
    GROUP BY study, method
)
SELECT study, method, label,
    unit_count, -- models with a score; of the macro, in the label where they are fewest
    statistic,
    estimate, -- 0 to 1
    published, -- NULL where the paper has none
    estimate - published AS difference,
    CASE WHEN estimate IS NULL THEN coalesce(reason, 'no unit with three scores') END AS reason
FROM (
    SELECT parts.study, parts.method, label, unit_count, reason,
        unnest([
            {statistic: 'auroc', estimate: parts.auroc, published: paper.auroc::DOUBLE},
            {statistic: 'auprc', estimate: parts.auprc, published: paper.auprc::DOUBLE},
            {statistic: 'accuracy', estimate: parts.accuracy, published: paper.accuracy}
        ], recursive := true)
    FROM parts LEFT JOIN paper ON paper.method = parts.method AND label = 'macro'
)
WHERE statistic <> 'accuracy' OR label = 'macro'
ORDER BY study, label <> 'macro', label, statistic, method <> 'DECAF', method;
