-- purpose: one metric of a member of a grouping: its mean, and the sorted means of the replicates
-- grain: scalar macro
-- paper: appendix D.8 (statistical summaries)
-- sums and weights begin with the sample; the replicates follow. A mean without weight is NULL.
CREATE OR REPLACE MACRO mean_of_member(sums, weights, quantiles) AS {
    estimate: ratios_of(sums, weights)[1],
    replicates: list_sort(list_filter(
        ratios_of(sums, weights)[2:], lambda replicate: replicate IS NOT NULL
    )),
    quantiles: quantiles
};
