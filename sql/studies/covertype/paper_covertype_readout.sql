-- purpose: fixed semantics: separation of mechanisms by each method's score
-- grain: one row per study, method, label (or macro) and statistic
-- paper: appendix I (fixed columns)
-- One label against the others, over all models. Accuracy is the share of models whose largest
-- score is that of the mechanism, ties shared. The three probes are fitted to labels of other
-- families. There are no intervals.
CREATE OR REPLACE VIEW paper_covertype_readout AS
WITH models AS MATERIALIZED (FROM core_covertype_outcomes),
units AS MATERIALIZED (FROM covertype_units('models')),
judged AS MATERIALIZED (
    FROM readout('units', ['auroc', 'auprc'], 1, 0) WHERE replicate IS NULL
),
credits AS (
    SELECT study, method,
        role_credit(list(score ORDER BY label), list(is_shown::INTEGER ORDER BY label)) AS credit
    FROM units
    GROUP BY study, method, model_id
),
estimates AS (
    SELECT study, method, part, statistic, value AS estimate, unit_count, undefined FROM judged
    UNION ALL BY NAME
    SELECT study, method, 'macro' AS part, 'accuracy' AS statistic, avg(credit) AS estimate,
        any_value(unit_count) AS unit_count, any_value(undefined) AS undefined
    FROM credits JOIN (FROM judged WHERE part = 'macro' AND statistic = 'auroc')
        USING (study, method)
    GROUP BY study, method
)
SELECT study, method, part AS label,
    unit_count, -- models with a score; for the macro, of the label with the fewest
    statistic,
    estimate, -- 0 to 1
    published, -- NULL if the paper has no value
    difference,
    CASE WHEN estimate IS NULL THEN coalesce(undefined, 'no unit with three scores') END AS reason
FROM with_published('estimates', 'covertype')
ORDER BY study, part <> 'macro', part, statistic, method <> 'DECAF', method;
