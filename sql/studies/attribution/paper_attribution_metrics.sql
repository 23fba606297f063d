-- purpose: five measures of agreement between scores and the effects of changing features
-- grain: one row per study, protocol, method and statistic
-- paper: appendix H (PartImageNet as a task-aligned boundary case)
-- Means over the images of the comparison, then over models. The native protocol uses all images,
-- and its Spearman skips images with constant scores or effects instead of counting them as 0.
CREATE OR REPLACE VIEW paper_attribution_metrics AS
WITH by_model AS (
    SELECT study, protocol, method,
        avg(if(protocol = 'native', rank_correlation, spearman)) AS spearman,
        avg(COLUMNS(['pearson', 'sign_agreement', 'normalized_l1', 'top1_agreement']))
    FROM core_attribution_quality
    WHERE is_supported OR protocol = 'native'
    GROUP BY study, protocol, method, model_id
),
means AS (
    SELECT study, protocol, method, avg(COLUMNS(* EXCLUDE (study, protocol, method)))
    FROM by_model
    GROUP BY study, protocol, method
),
estimates AS (
    SELECT * EXCLUDE (benchmark), benchmark AS unit
    FROM means
    UNPIVOT (estimate FOR statistic IN (
        spearman, pearson, sign_agreement, normalized_l1, top1_agreement
    )) AS means
    JOIN core_attribution_studies USING (study, protocol)
)
SELECT
    study,
    protocol,
    method,
    statistic,
    estimate, -- correlation, share, or distance (0 to 2)
    published, -- NULL if the paper has no value
    difference,
    reason
FROM with_published('estimates', 'attribution')
ORDER BY study, protocol, method, list_position(
    ['spearman', 'pearson', 'sign_agreement', 'top1_agreement', 'normalized_l1'], statistic
);
