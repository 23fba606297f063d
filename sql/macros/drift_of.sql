-- purpose: how far versions of entries moved, with intervals, p-values and false discovery control
-- grain: one row per entry of rel, what it is measured on, metric and level
-- inputs: drift_replicates, percentile_limits
-- paper: appendix D.8 (statistical summaries)
-- rel is as for drift_pairs. p_value is that of a two-sided percentile bootstrap: twice the smaller
-- share of replicates on one side of no change, the sample counted in. p_adjusted is the rate of
-- false discoveries (Benjamini and Hochberg) at which the row would be one, over all rows of its
-- re-audit that have a p-value: models, pair types, paths and metrics together.
-- FROM drift_of('core_entry_versions', 2000, 91702, [0.95])
CREATE OR REPLACE MACRO drift_of(rel, replicates, seed, levels) AS TABLE
WITH resampled AS MATERIALIZED (FROM drift_replicates(rel, replicates, seed)),
sample AS (FROM resampled WHERE replicate IS NULL),
sided AS (
    SELECT {of: g, is_change: false} AS g, value FROM resampled WHERE replicate IS NOT NULL
    UNION ALL
    SELECT {of: g, is_change: true}, change FROM resampled WHERE replicate IS NOT NULL
),
limits AS MATERIALIZED (FROM percentile_limits('sided', levels)),
tested AS (
    SELECT
        g,
        least(1, 2 * (1 + least(count(*) FILTER (step <= 0), count(*) FILTER (step >= 0)))
            / (1 + count(step))) AS p_value
    -- Sums in another order differ in their last digits: that is no change.
    FROM (SELECT g, replicate, source_count, round(change, 12) AS step FROM resampled)
    WHERE replicate IS NOT NULL AND source_count > 1
    GROUP BY g
    HAVING count(step) > 1
),
ranked AS (
    SELECT g, p_value, p_value * count(*) OVER (PARTITION BY g.study, g.reaudit_id) / count(*)
        OVER (PARTITION BY g.study, g.reaudit_id ORDER BY p_value) AS raised
    FROM tested
),
adjusted AS (
    SELECT g, p_value, min(raised) OVER (
        PARTITION BY g.study, g.reaudit_id ORDER BY p_value DESC ROWS UNBOUNDED PRECEDING
    ) AS p_adjusted
    FROM ranked
)
SELECT
    sample.g, now.level, sample.value_before, sample.value, sample.change, sample.source_count,
    CASE WHEN source_count > 1 THEN now.lower_limit END AS lower_limit, -- of value
    CASE WHEN source_count > 1 THEN now.upper_limit END AS upper_limit,
    CASE WHEN source_count > 1 THEN moved.lower_limit END AS change_lower,
    CASE WHEN source_count > 1 THEN moved.upper_limit END AS change_upper,
    CASE WHEN source_count > 1 THEN moved.standard_error END AS change_error,
    p_value, p_adjusted
FROM sample
JOIN limits AS now ON now.g.of = sample.g AND NOT now.g.is_change
JOIN limits AS moved ON moved.g.of = sample.g AND moved.g.is_change AND moved.level = now.level
LEFT JOIN adjusted ON adjusted.g = sample.g;
