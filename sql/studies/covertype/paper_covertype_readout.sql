-- purpose: fixed semantics: how well each method's score tells the mechanism of a treatment
-- grain: one row per study, method, label (or macro) and statistic
-- inputs: core_covertype_outcomes, covertype_units, discrimination, role_credit,
--   beside_published
-- paper: appendix I (fixed columns)
-- One label against the others, over all units. The macro is the mean over the three labels,
-- undefined unless all are; accuracy is how often the largest of the three scores is that of the
-- mechanism, ties shared. The three probes are fitted to labels of other families.
CREATE OR REPLACE VIEW paper_covertype_readout AS
WITH models AS MATERIALIZED (FROM core_covertype_outcomes),
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
),
estimates AS (
    SELECT study, method, label AS part, unit_count, reason AS undefined, unnest([
        {statistic: 'auroc', estimate: auroc},
        {statistic: 'auprc', estimate: auprc},
        {statistic: 'accuracy', estimate: accuracy}
    ], recursive := true)
    FROM parts
)
SELECT study, method, part AS label,
    unit_count, -- models with a score; of the macro, in the label where they are fewest
    statistic,
    estimate, -- 0 to 1
    published, -- NULL where the paper has none
    difference,
    CASE WHEN estimate IS NULL THEN coalesce(undefined, 'no unit with three scores') END AS reason
FROM beside_published('estimates', 'covertype')
WHERE statistic <> 'accuracy' OR part = 'macro'
ORDER BY study, part <> 'macro', part, statistic, method <> 'DECAF', method;
