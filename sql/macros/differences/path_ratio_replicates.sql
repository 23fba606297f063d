-- purpose: ratio of the means over models between two paths in every replicate
-- grain: one row per study, pair type, two paths, metric, resampled unit and replicate
-- paper: section 6.3 (response composition); appendix D.8
-- Replicate NULL is the sample itself, and clusters are models or sources.
-- FROM path_ratio_replicates(500, 91702)
CREATE OR REPLACE MACRO path_ratio_replicates(replicates, seed) AS TABLE
WITH paired AS MATERIALIZED (FROM path_pair_replicates(replicates, seed)),
sample AS (SELECT g, cluster, x, y FROM paired WHERE replicate IS NULL)
SELECT g, 'models' AS resampled, replicate, value, cluster_count
FROM bootstrap_replicates('sample', replicates, seed)
WHERE statistic = 'ratio'
UNION ALL
SELECT g, 'sources', replicate, avg(x) / nullif(avg(y), 0), max(source_count)
FROM paired
GROUP BY g, replicate;
