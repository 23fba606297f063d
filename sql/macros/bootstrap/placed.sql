-- purpose: replicates in ascending order, without the sample before them; NULL without a sample
-- grain: scalar macro
-- paper: appendix D.8 (statistical summaries)
-- An undefined replicate has no place.
-- placed([2.0, 3.0, NULL, 1.0], true) -- [1.0, 3.0]
CREATE OR REPLACE MACRO placed(replicates, is_sample) AS CASE WHEN is_sample
    THEN list_sort(list_filter(replicates[2:], lambda one: one IS NOT NULL)) END;
