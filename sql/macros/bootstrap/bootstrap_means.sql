-- purpose: model means in every bootstrap replicate; differences between them are paired
-- grain: one row per study, model, pair type, path and replicate
-- paper: appendix D.8 (statistical summaries)
-- FROM bootstrap_means(500, 91702)
CREATE OR REPLACE MACRO bootstrap_means(replicates, seed) AS TABLE
WITH profiles AS (FROM core_profiles)
SELECT * EXCLUDE (source_count) -- score units
FROM bootstrap_means_of('profiles', replicates, seed)
WHERE replicate IS NOT NULL;
