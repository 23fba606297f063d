-- purpose: methods compared with DECAF among cases of nearly equal Abs, in 20 quantile bins
-- grain: one row per study, method, part (a bin, valid bins, common support) and statistic
-- paper: section 6.2 (figure 3c); appendix F
-- Edges of bins come from the sample; intervals resample models. Single bins are those of DECAF and
-- Abs; out_unit_bins has all methods and labels. bins_of_<label> is the number of bins in the mean
-- of a label over valid bins; bins_below_decaf counts bins of common support in which DECAF is
-- ahead.
CREATE OR REPLACE VIEW paper_imagenet9_bins AS
WITH units AS MATERIALIZED (FROM core_imagenet9_unit_scores WHERE is_complete),
models AS (SELECT study, count(DISTINCT model_id) AS cluster_count FROM units GROUP BY study),
judged AS MATERIALIZED (FROM label_discrimination('units', ['auroc'], 500, 91702)),
summaries AS MATERIALIZED (
    FROM bin_summaries('judged') JOIN models USING (study)
),
shown AS (FROM summaries WHERE part NOT LIKE 'bin%' OR method IN ('DECAF', 'Abs')),
estimates AS (
    FROM comparisons_with_decaf('shown')
    UNION ALL BY NAME
    FROM bin_counts('judged')
)
SELECT
    study, method, part, statistic,
    estimate, -- AUROC 0 to 1, mean over labels; a difference is DECAF minus the method
    lower_90, upper_90, lower_95, upper_95,
    published, -- NULL if the paper has no value
    difference,
    reason -- why the estimate, or its interval, is NULL
FROM with_published('estimates', 'imagenet9')
ORDER BY study, statistic, part, method;
