-- purpose: defined replicates in ascending order; NULL if they give no interval
-- grain: scalar macro
-- paper: appendix D.8 (statistical summaries)
-- The first element of replicates is the sample, which is left out.
-- sorted_replicates([2.0, 3.0, NULL, 1.0], true) -- [1.0, 3.0]
CREATE OR REPLACE MACRO sorted_replicates(replicates, has_interval) AS CASE WHEN has_interval
    THEN list_sort(list_filter(replicates[2:], lambda one: one IS NOT NULL)) END;
