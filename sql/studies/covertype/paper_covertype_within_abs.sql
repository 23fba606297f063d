-- purpose: how well each method's score tells the mechanism among models of about equal Abs
-- grain: one row per study, method and statistic
-- inputs: core_covertype_outcomes, covertype_units, bin_macros, beside_published
-- paper: appendix I (within-Abs columns)
-- Units lie in 12 quantile bins of Abs. Each label is judged in the bins where it occurs and is
-- absent; the mean over bins, then over labels, is undefined unless every label is.
CREATE OR REPLACE VIEW paper_covertype_within_abs AS
WITH models AS MATERIALIZED (FROM core_covertype_outcomes),
units AS MATERIALIZED (FROM covertype_units('models')),
entries AS MATERIALIZED (
    SELECT {study: study, method: method} AS g, model_id AS unit, abs_response AS magnitude,
        label AS behaviour, is_shown AS label, score
    FROM units
),
counts AS (
    SELECT study, method, count(DISTINCT model_id) FILTER (score IS NOT NULL) AS unit_count
    FROM units
    GROUP BY study, method
),
judged AS (
    SELECT
        unnest(g),
        'valid bins' AS part,
        unnest([
            {statistic: 'auroc', estimate: valid_bin_auroc},
            {statistic: 'auprc', estimate: valid_bin_auprc}
        ], recursive := true)
    FROM bin_macros('entries', 12)
)
SELECT
    study,
    method,
    unit_count, -- models with a score
    statistic,
    estimate, -- 0 to 1
    published, -- NULL where the paper has none
    difference,
    CASE WHEN estimate IS NULL THEN 'a label is defined in no bin' END AS reason
FROM beside_published('judged', 'covertype')
JOIN counts USING (study, method)
ORDER BY study, statistic, method <> 'DECAF', method;
