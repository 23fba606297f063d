-- purpose: fixed semantics: separation of each behaviour by each method's score, over all cases
-- grain: one row per study, method, label (or macro) and statistic
-- paper: section 6.1 (figure 3a); appendix F
-- Intervals resample models.
CREATE OR REPLACE VIEW paper_imagenet9_semantics AS
WITH units AS (FROM core_imagenet9_unit_scores WHERE is_complete),
entries AS MATERIALIZED (FROM readout('units', ['auroc', 'auprc'], 500, 91702)),
compared AS (FROM comparisons_with_decaf('entries'))
SELECT
    study,
    method,
    part AS label,
    statistic,
    estimate, -- 0 to 1; a difference is DECAF minus the method
    lower_90, upper_90, lower_95, upper_95,
    published, -- NULL if the paper has no value
    difference,
    reason -- why the estimate, or its interval, is NULL
FROM with_published('compared', 'imagenet9')
ORDER BY study, statistic, label, method;
