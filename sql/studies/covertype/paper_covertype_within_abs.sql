-- purpose: separation of mechanisms by each method's score among models of nearly equal Abs
-- grain: one row per study, method and statistic
-- paper: appendix I (within-Abs columns)
-- A label is judged in the bins of Abs that have models with and without it. The mean over bins,
-- then over labels, is undefined unless it is defined for every label. bins_of_<label> is the
-- number of bins of a label. There are no intervals.
CREATE OR REPLACE VIEW paper_covertype_within_abs AS
WITH models AS MATERIALIZED (FROM core_covertype_outcomes),
units AS MATERIALIZED (FROM covertype_units('models')),
binned AS (FROM units WHERE bin IS NOT NULL),
judged AS MATERIALIZED (FROM label_discrimination('binned', ['auroc', 'auprc'], 1, 0)),
aurocs AS MATERIALIZED (FROM judged WHERE measure = 'auroc'),
estimates AS (
    SELECT * EXCLUDE (unit_count), value AS estimate
    FROM bin_summaries('judged')
    WHERE part = 'valid bins' AND replicate IS NULL
    UNION ALL BY NAME
    SELECT study, method, part, statistic, estimate
    FROM bin_counts('aurocs')
    WHERE part = 'valid bins'
),
counts AS (
    SELECT study, method, count(DISTINCT model_id) FILTER (score IS NOT NULL) AS unit_count
    FROM units
    GROUP BY study, method
)
SELECT
    study,
    method,
    unit_count, -- models with a score
    statistic,
    estimate, -- 0 to 1, or number of bins
    published, -- NULL if the paper has no value
    difference,
    CASE WHEN estimate IS NULL THEN undefined END AS reason
FROM with_published('estimates', 'covertype')
JOIN counts USING (study, method)
ORDER BY study, statistic, method <> 'DECAF', method;
