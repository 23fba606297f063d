-- purpose: what probes of each representation tell of architecture families that they never saw
-- grain: one row per study, representation, probe and label (or macro)
-- inputs: core_probe_scores
-- paper: section 6.2 (figure 10); appendix F (cross-architecture comparison)
-- A label is the mean over the families in which it is defined; the macro is the mean over the
-- three labels, undefined unless each is defined somewhere. The paper does not name its estimator:
-- its values stand beside the logistic regression. Nothing is resampled.
CREATE OR REPLACE VIEW paper_imagenet9_families AS
WITH published (representation, published) AS (
    VALUES ('decaf', 0.862), ('response', 0.867), ('spatial', 0.737), ('decaf_spatial', 0.918),
        ('full', 0.921)
),
labels AS (
    SELECT
        study, representation, probe, label, avg(auroc) AS estimate,
        CASE WHEN count(auroc) = 0 THEN string_agg(DISTINCT reason, '; ' ORDER BY reason) END
            AS reason
    FROM core_probe_scores
    GROUP BY study, representation, probe, label
),
estimates AS (
    FROM labels
    UNION ALL
    SELECT
        study, representation, probe, 'macro',
        CASE WHEN count(estimate) = 3 THEN avg(estimate) END,
        CASE WHEN count(estimate) < 3 THEN 'a label is defined in no family' END
    FROM labels
    GROUP BY study, representation, probe
)
SELECT
    study,
    representation,
    probe,
    label,
    estimate, -- AUROC, 0 to 1
    NULL::DOUBLE AS lower_90,
    NULL::DOUBLE AS upper_90,
    NULL::DOUBLE AS lower_95,
    NULL::DOUBLE AS upper_95,
    CASE
        WHEN label = 'macro' AND probe = 'logistic_regression' THEN published::DOUBLE
    END AS published, -- NULL where the paper has none
    reason -- why the estimate is NULL
FROM estimates
LEFT JOIN published USING (representation)
ORDER BY study, probe, representation, label;
