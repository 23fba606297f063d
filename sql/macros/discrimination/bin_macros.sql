-- purpose: two means over magnitude bins and behaviours, valid bins and common support
-- grain: one row per group g
-- inputs: discrimination_in_bins
-- paper: section 6.2; appendix F
-- Valid bins: mean over behaviours of the mean over the bins where each is defined. Common support:
-- mean over the bins where every behaviour occurs and is absent, of the mean over behaviours.
-- rel is as for discrimination_in_bins.
-- FROM bin_macros('my_units', 20)
CREATE OR REPLACE MACRO bin_macros(rel, bin_count) AS TABLE
WITH by_bin AS MATERIALIZED (FROM discrimination_in_bins(rel, bin_count)),
by_behaviour AS (
    SELECT g, behaviour, avg(auroc) AS auroc, avg(auprc) AS auprc
    FROM by_bin
    GROUP BY g, behaviour
),
valid AS (
    SELECT
        g,
        CASE WHEN count(*) = count(auroc) THEN avg(auroc) END AS auroc,
        CASE WHEN count(*) = count(auprc) THEN avg(auprc) END AS auprc,
        count(*) AS behaviour_count
    FROM by_behaviour
    GROUP BY g
),
common AS (
    SELECT
        g,
        CASE WHEN count(*) = count(auroc) THEN avg(auroc) END AS auroc,
        CASE WHEN count(*) = count(auprc) THEN avg(auprc) END AS auprc,
        count(DISTINCT bin) AS bin_count
    FROM by_bin
    WHERE is_common
    GROUP BY g
)
SELECT
    valid.g,
    behaviour_count,
    valid.auroc AS valid_bin_auroc,
    valid.auprc AS valid_bin_auprc,
    coalesce(common.bin_count, 0) AS common_bin_count,
    common.auroc AS common_support_auroc,
    common.auprc AS common_support_auprc,
    CASE
        WHEN valid.auroc IS NULL THEN 'a behaviour is defined in no bin'
        WHEN common.bin_count IS NULL THEN 'no bin of common support'
        WHEN common.auroc IS NULL THEN 'missing scores leave a common bin undefined'
    END AS reason
FROM valid
LEFT JOIN common ON common.g IS NOT DISTINCT FROM valid.g;
