-- purpose: change of versions of entries, with intervals, p-values and false discovery control
-- grain: one row per entry of rel, measured subject, metric and level
-- paper: appendix D.8 (statistical summaries)
-- rel is as for drift_pairs. What stopped early has its limits in out_looks, none here. p_value is that of a two-sided percentile bootstrap: twice the smaller
-- share of replicates on one side of no change, the sample counted in. p_adjusted is the rate of
-- false discoveries (Benjamini and Hochberg) at which the row would be one, over all rows of its
-- re-audit and comparison that have a p-value: models, pair types, paths and metrics together.
-- FROM drift_of('core_entry_versions', 2000, 91702, [0.95])
CREATE OR REPLACE MACRO drift_of(rel, replicates, seed, levels) AS TABLE
WITH replicated AS (
    FROM drift_replicates(rel, replicates, seed)
    -- A single source has no interval, nor has a model whose scoring stopped early.
    SELECT *, source_count > 1 AND (g.study, g.reaudit_id, g.entry) NOT IN (
        SELECT (study, reaudit_id, entry)
        FROM query_table(rel) SEMI JOIN stg_run_stops USING (study, run_id, model_id)
    ) AS is_sample
),
resampled AS MATERIALIZED (
    SELECT
        g, source_count, is_sample,
        value[1] AS value, value_before[1] AS value_before, change[1] AS change,
        placed(value, is_sample) AS values,
        placed(change, is_sample) AS changes
    FROM replicated
),
tested AS (
    SELECT
        g,
        -- Sums in another order differ in their last digits, which does not count as a change.
        least(1, 2 * (1 + least(
            len(list_filter(changes, lambda step: round(step, 12) <= 0)),
            len(list_filter(changes, lambda step: round(step, 12) >= 0))
        )) / (1 + len(changes))) AS p_value
    FROM resampled
    WHERE len(changes) > 1
),
ranked AS (
    SELECT
        g, p_value,
        p_value * count(*) OVER family / count(*) OVER (family ORDER BY p_value) AS raised
    FROM tested
    WINDOW family AS (PARTITION BY g.study, g.reaudit_id, g.against)
),
adjusted AS (
    SELECT g, p_value, min(raised) OVER (
        PARTITION BY g.study, g.reaudit_id, g.against ORDER BY p_value DESC ROWS UNBOUNDED PRECEDING
    ) AS p_adjusted
    FROM ranked
)
SELECT
    g, level, value_before, value, change, source_count,
    limit_at(values, (1 - level) / 2) AS lower_limit, -- of value
    limit_at(values, 1 - (1 - level) / 2) AS upper_limit,
    limit_at(changes, (1 - level) / 2) AS change_lower,
    limit_at(changes, 1 - (1 - level) / 2) AS change_upper,
    CASE WHEN is_sample THEN list_aggregate(changes, 'stddev_samp') END AS change_error,
    p_value, p_adjusted
FROM resampled
CROSS JOIN asked_levels(levels)
LEFT JOIN adjusted USING (g);
