-- purpose: how well each method's score tells the mechanism among models of about equal Abs
-- grain: one row per study, method and statistic
-- inputs: core_covertype_outcomes, covertype_units, bin_macros
-- paper: appendix I (within-Abs columns)
-- Units lie in 12 quantile bins of Abs. Each label is judged in the bins where it occurs and is
-- absent; the mean over bins, then over labels, is undefined unless every label is.
CREATE OR REPLACE VIEW paper_covertype_within_abs AS
WITH paper (method, auroc, auprc) AS (
    VALUES ('DECAF', 0.956, 0.948), ('M', 0.565, 0.666), ('Abs', 0.495, 0.585),
        ('native_shap', 0.461, 0.570), ('context_permutation', 0.468, 0.634),
        ('pdp_ale', 0.559, 0.739), ('strong_tabular', 0.983, 0.994),
        ('decaf_probe', 0.742, 0.779), ('combined', 0.983, 0.994)
),
models AS MATERIALIZED (FROM core_covertype_outcomes),
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
    if(statistic = 'auroc', auroc, auprc)::DOUBLE AS published, -- NULL where the paper has none
    estimate - published AS difference,
    CASE WHEN estimate IS NULL THEN 'a label is defined in no bin' END AS reason
FROM judged
JOIN counts USING (study, method)
LEFT JOIN paper USING (method)
ORDER BY study, statistic, method <> 'DECAF', method;
