-- purpose: methods against DECAF among units of about equal Abs, in 20 quantile bins
-- grain: one row per study, method, part (a bin, valid bins, common support) and statistic
-- inputs: core_unit_scores, label_discrimination, bin_summaries, comparisons_with_decaf
-- paper: section 6.2 (figure 3c); appendix F
-- Bins are cut once, on the sample; intervals resample models. Single bins are shown for DECAF and
-- Abs: out_unit_bins has all methods and labels. bins_below_decaf counts bins of common
-- support; it is undefined where the method has no value in one of them.
CREATE OR REPLACE VIEW paper_imagenet9_bins AS
WITH units AS MATERIALIZED (FROM core_unit_scores WHERE is_complete),
models AS (SELECT study, count(DISTINCT model_id) AS cluster_count FROM units GROUP BY study),
judged AS MATERIALIZED (FROM label_discrimination('units', ['auroc'], 500, 91702)),
summaries AS MATERIALIZED (
    SELECT *, 'auroc' AS statistic FROM bin_summaries('judged') JOIN models USING (study)
),
shown AS (FROM summaries WHERE part NOT LIKE 'bin%' OR method IN ('DECAF', 'Abs')),
wins AS (
    SELECT
        study, other.method, count(*) AS bin_count,
        CASE WHEN count(other.value) = count(*) THEN count_if(decaf.value > other.value) END AS won
    FROM summaries AS other
    JOIN (FROM summaries WHERE method = 'DECAF') AS decaf USING (study, part)
    WHERE part LIKE 'bin%' AND other.replicate IS NULL AND decaf.replicate IS NULL
        AND decaf.value IS NOT NULL
    GROUP BY study, other.method
),
published (method, part, statistic, published) AS (
    VALUES
        ('DECAF', 'common support', 'auroc', 0.677),
        ('Abs', 'common support', 'auroc', 0.517),
        ('Abs', 'common support', 'bins_below_decaf', 15),
        ('DECAF', 'common support', 'bins', 16)
),
estimates AS (
    FROM comparisons_with_decaf('shown')
    UNION ALL BY NAME
    SELECT
        study, method, 'common support' AS part,
        CASE WHEN method = 'DECAF' THEN 'bins' ELSE 'bins_below_decaf' END AS statistic,
        CASE WHEN method = 'DECAF' THEN bin_count ELSE won END::DOUBLE AS estimate,
        CASE WHEN won IS NULL THEN 'a label is undefined in a bin of common support' END AS reason
    FROM wins
)
SELECT
    study, method, part, statistic,
    estimate, -- AUROC 0 to 1, mean over labels; a difference is DECAF minus the method
    lower_90, upper_90, lower_95, upper_95,
    published.published::DOUBLE AS published, -- NULL where the paper has none
    estimate - published.published AS difference,
    reason -- why the estimate, or its interval, is NULL
FROM estimates
LEFT JOIN published USING (method, part, statistic)
ORDER BY study, statistic, part, method;
