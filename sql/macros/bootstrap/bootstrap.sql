-- purpose: percentile bootstrap of means, paired differences and ratios, by group of any relation
-- grain: one row per group g, statistic (mean, difference, ratio) and level
-- paper: appendix D.8 (statistical summaries); section 6.3 (ratios of means)
-- rel names a relation with columns g, cluster and x, and may have y (paired with x), stratum, and
-- weight (above 0; 1 if it is absent or NULL), by which means and ratios are weighted.
-- The bootstrap draws whole clusters; with one cluster per row it is the plain bootstrap. A row
-- with NULL or NaN counts in no mean, but its cluster is still drawn. Groups without any y have no
-- difference and ratio. A group of a single cluster has no interval.
-- FROM bootstrap_by_group('my_rows', 500, 91702, [0.9, 0.95])
CREATE OR REPLACE MACRO bootstrap_by_group(rel, replicates, seed, levels) AS TABLE
WITH resampled AS MATERIALIZED (FROM bootstrap_replicates(rel, replicates, seed)),
samples AS (
    SELECT g, statistic, value AS estimate, cluster_count FROM resampled WHERE replicate IS NULL
),
entries AS (
    SELECT {g: g, statistic: statistic} AS g, value FROM resampled WHERE replicate IS NOT NULL
)
SELECT
    samples.g,
    samples.statistic,
    limits.level,
    samples.estimate, -- unit of x; a ratio has none; NULL without a complete row, or if y is 0
    CASE WHEN cluster_count > 1 THEN COLUMNS(['standard_error', 'lower_limit', 'upper_limit']) END,
    samples.cluster_count, -- clusters with a complete row
    limits.replicate_count, -- replicates in which the statistic is defined
    CASE
        WHEN estimate IS NULL AND cluster_count = 0 THEN 'no complete row'
        WHEN estimate IS NULL THEN 'the mean of y is 0'
        WHEN cluster_count = 1 THEN 'a single cluster'
        WHEN limits.replicate_count < 2 THEN 'fewer than two defined replicates'
    END AS reason
FROM samples
JOIN percentile_limits('entries', levels) AS limits
    ON limits.g.g IS NOT DISTINCT FROM samples.g AND limits.g.statistic = samples.statistic;
