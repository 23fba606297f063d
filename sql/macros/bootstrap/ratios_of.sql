-- purpose: means of replicates from their sums
-- grain: scalar macro
-- paper: appendix D.8 (statistical summaries)
-- The mean of a replicate without weight is NULL.
-- ratios_of([3.0, 0.0], [2.0, 0.0]) -- [1.5, NULL]
CREATE OR REPLACE MACRO ratios_of(sums, weights) AS
    list_transform(sums, lambda total, n: total / nullif(weights[n], 0));
