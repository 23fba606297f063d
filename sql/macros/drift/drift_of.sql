-- purpose: change of versions of entries, with intervals, p-values and false discovery control
-- grain: one row per entry of rel, measured subject, metric and level
-- paper: appendix D.8 (statistical summaries)
-- rel is as for drift_pairs. Models that stopped early have no interval here; out_looks has theirs.
-- p_value is that of a two-sided percentile bootstrap: twice the smaller share of replicates on one
-- side of no change, the sample included. p_adjusted is the smallest false discovery rate
-- (Benjamini and Hochberg) at which the row is a discovery, over all rows of its re-audit and
-- comparison that have a p-value: models, pair types, paths and metrics together.
-- FROM drift_of('core_entry_versions', 2000, 91702, [0.95])
CREATE OR REPLACE MACRO drift_of(rel, replicates, seed, levels) AS TABLE
WITH replicated AS (
    FROM drift_replicates(rel, replicates, seed)
    SELECT *, source_count > 1 AND (g.study, g.reaudit_id, g.entry) NOT IN (
        SELECT (study, reaudit_id, entry)
        FROM query_table(rel) SEMI JOIN stg_run_stops USING (study, run_id, model_id)
    ) AS has_interval
),
resampled AS MATERIALIZED (
    SELECT
        g, source_count, has_interval,
        value[1] AS value, value_before[1] AS value_before, change[1] AS change,
        sorted_replicates(value, has_interval) AS values,
        sorted_replicates(change, has_interval) AS changes
    FROM replicated
),
tested AS (
    SELECT
        g,
        -- Rounded, since the last digits of a sum depend on its order.
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
    CASE WHEN has_interval THEN list_aggregate(changes, 'stddev_samp') END AS change_error,
    p_value, p_adjusted
FROM resampled
CROSS JOIN valid_levels(levels)
LEFT JOIN adjusted USING (g);
