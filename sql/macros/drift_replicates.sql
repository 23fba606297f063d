-- purpose: every column of the drift in every bootstrap replicate, and in the sample
-- grain: one row per entry of rel, what it is measured on, metric and replicate
-- inputs: drift_terms, bootstrap_sums
-- paper: appendix D.8 (statistical summaries)
-- rel is as for drift_pairs. Whole sources are drawn; entries and metrics with as many sources
-- share their draws, and so do both versions. replicate NULL is the sample itself.
CREATE OR REPLACE MACRO drift_replicates(rel, replicates, seed) AS TABLE
WITH drift_groups AS MATERIALIZED (
    SELECT
        {of: terms.g, source_count: max(position) + 1} AS g,
        max(position) + 1 AS layout,
        list(position::INTEGER) AS positions,
        -- Lists that one GROUP BY makes without ORDER BY hold its rows in the same order.
        [list(term[1]), list(term[2]), list(term[3]), list(term[4])] AS columns
    FROM drift_terms(rel) AS terms
    GROUP BY terms.g
),
drift_layouts AS (
    SELECT layout, unnest(range(layout)) AS position, NULL::VARCHAR AS stratum
    FROM (SELECT DISTINCT layout FROM drift_groups)
),
totals AS (
    SELECT
        g,
        nullif(generate_subscripts(sums[1], 1), 1) - 2 AS replicate,
        unnest(sums[1]) AS over_now,
        unnest(sums[2]) AS under_now,
        unnest(sums[3]) AS over_before,
        unnest(sums[4]) AS under_before
    FROM bootstrap_sums('drift_groups', 'drift_layouts', replicates, seed)
)
SELECT
    g.of AS g,
    g.source_count AS source_count,
    replicate,
    over_now / nullif(under_now, 0) AS value, -- NULL where there is no response at all
    over_before / nullif(under_before, 0) AS value_before, -- NULL without a comparison as well
    value - value_before AS change
FROM totals;
