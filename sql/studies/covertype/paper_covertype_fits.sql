-- purpose: number of fits that did not converge, and number of iterations
-- grain: one row per study, classifier and statistic
-- paper: appendix I (setup)
-- The protocol limits iterations, so a fit that did not converge is audited like any other. The
-- paper has no such numbers. Early stopping of histogram boosting does not count as convergence.
CREATE OR REPLACE VIEW paper_covertype_fits AS
WITH counts AS (
    SELECT
        study,
        classifier,
        count(*)::DOUBLE AS models,
        if(count(converged) > 0, count(*) FILTER (NOT converged), NULL)::DOUBLE AS not_converged,
        min(iterations)::DOUBLE AS fewest_iterations,
        max(iterations)::DOUBLE AS most_iterations
    FROM core_covertype_models
    GROUP BY study, classifier
)
SELECT
    study,
    classifier,
    statistic,
    estimate, -- a count
    NULL::DOUBLE AS published,
    NULL::DOUBLE AS difference,
    CASE
        WHEN estimate IS NOT NULL THEN NULL
        WHEN classifier IN ('random_forest', 'xgboost') THEN 'the number of trees is fixed'
        WHEN statistic = 'not_converged' AND classifier = 'hist_gradient_boosting'
            THEN 'trees are added, nothing converges'
        ELSE 'not recorded by the version that started the run'
    END AS reason
FROM (FROM counts UNPIVOT INCLUDE NULLS (
    estimate FOR statistic IN (models, not_converged, fewest_iterations, most_iterations)
))
ORDER BY study, classifier, statistic;
