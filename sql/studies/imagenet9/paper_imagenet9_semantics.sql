-- purpose: fixed semantics: how well each method's score tells each behaviour, over all units
-- grain: one row per study, method, label (or macro) and statistic
-- inputs: core_unit_scores, label_discrimination, comparisons_with_decaf,
--   beside_published
-- paper: section 6.1 (figure 3a); appendix F
-- Intervals resample models. The macro is the mean over the three labels, undefined unless all are.
CREATE OR REPLACE VIEW paper_imagenet9_semantics AS
WITH units AS (SELECT * REPLACE (0 AS bin) FROM core_unit_scores WHERE is_complete),
by_label AS MATERIALIZED (FROM label_discrimination('units', ['auroc', 'auprc'], 500, 91702)),
entries AS MATERIALIZED (
    SELECT
        study, method, label AS part, measure AS statistic, replicate, value,
        positive_count + negative_count AS unit_count, model_count AS cluster_count,
        reason AS undefined
    FROM by_label
    UNION ALL
    SELECT
        study, method, 'macro', measure, replicate, CASE WHEN count(value) = 3 THEN avg(value) END,
        max(positive_count + negative_count), max(model_count), max(label || ': ' || reason)
    FROM by_label
    GROUP BY study, method, measure, replicate
),
compared AS (FROM comparisons_with_decaf('entries'))
SELECT
    study,
    method,
    part AS label,
    statistic,
    estimate, -- 0 to 1; a difference is DECAF minus the method
    lower_90, upper_90, lower_95, upper_95,
    published, -- NULL where the paper has none
    difference,
    reason -- why the estimate, or its interval, is NULL
FROM beside_published('compared', 'imagenet9')
ORDER BY study, statistic, label, method;
