-- purpose: AUROC of probes of each representation on held-out families of architectures
-- grain: one row per study, representation, probe and label (or macro)
-- paper: section 6.2 (figure 10); appendix F (cross-architecture comparison)
-- The value of a label is the mean over families in which it is defined. The macro is the mean over
-- the three labels, undefined unless all are defined, and has the folds of all three. The paper
-- does not name its estimator; its values are next to those of the logistic regression. Intervals
-- resample models but fit no probe again.
CREATE OR REPLACE VIEW paper_imagenet9_families AS
WITH labels AS (
    SELECT
        study, representation, probe, label, count(auroc) AS defined_folds, count(*) AS folds,
        avg(auroc) AS estimate,
        CASE
            WHEN count(auroc) = 0 THEN string_agg(DISTINCT reason, '; ' ORDER BY reason)
            ELSE 'undefined in ' || string_agg(family || ': ' || reason, '; ' ORDER BY family)
                FILTER (auroc IS NULL)
        END AS reason
    FROM core_probe_scores
    GROUP BY study, representation, probe, label
),
estimates AS (
    FROM labels
    UNION ALL
    SELECT
        study, representation, probe, 'macro', sum(defined_folds), sum(folds),
        CASE WHEN count(estimate) = 3 THEN avg(estimate) END,
        'a label is defined in no family: '
            || string_agg(DISTINCT reason, '; ' ORDER BY reason) FILTER (estimate IS NULL)
    FROM labels
    GROUP BY study, representation, probe
),
probed AS (FROM core_probe_units),
replicates AS (
    SELECT
        {study: study, representation: representation, probe: probe, label: label} AS g,
        replicate, value
    FROM probe_replicates('probed', 500, 91702)
),
limits AS (SELECT unnest(g), * EXCLUDE (g, estimate) FROM two_level_limits('replicates')),
judged AS (
    SELECT * EXCLUDE (reason), probe AS unit, representation AS method, label AS part,
        'auroc' AS statistic,
        nullif(concat_ws('; ', reason, CASE
            WHEN estimate IS NOT NULL AND lower_90 IS NULL THEN 'no unit of its probes is stored'
        END), '') AS reason
    FROM estimates LEFT JOIN limits USING (study, representation, probe, label)
)
SELECT
    study, representation, probe, label,
    defined_folds::BIGINT AS defined_folds, -- families in which it is defined
    folds::BIGINT AS folds,
    estimate, -- AUROC, 0 to 1
    lower_90, upper_90, lower_95, upper_95,
    published, difference, -- NULL if the paper has no value
    reason -- why the estimate, its interval or a family is NULL
FROM with_published('judged', 'imagenet9')
ORDER BY study, probe, representation, label;
