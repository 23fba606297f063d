-- purpose: 95 % interval of one metric of a member of a grouping
-- grain: scalar macro
-- paper: appendix D.8 (statistical summaries)
-- Limits are percentiles of the replicates of mean_of_member. Accuracy has Wilson's interval with
-- answered_count tries, one per source, since a bootstrap of only right answers has width 0.
CREATE OR REPLACE MACRO limits_of_member(metric, mean, answered_count) AS CASE
    WHEN metric = 'accuracy' THEN binomial_limits(mean.estimate * answered_count, answered_count)
    ELSE {
        lower: limit_at(mean.replicates, (1 - 0.95::DOUBLE) / 2),
        upper: limit_at(mean.replicates, 1 - (1 - 0.95::DOUBLE) / 2)
    }
END;
