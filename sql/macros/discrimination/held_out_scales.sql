-- purpose: leave one group out: mean and standard deviation of every feature over training rows
-- grain: one row per held-out group and feature
-- inputs: none
-- paper: section 6.2 (leave-one-family-out probes)
-- rel names a relation with columns g (the group, such as a model family) and features (list, as
-- long in every row). NULL and NaN are missing and left out. The scale is the population standard
-- deviation, or 1 where all training rows are equal, so that such a feature becomes 0.
-- FROM held_out_scales('my_units')
CREATE OR REPLACE MACRO held_out_scales(rel) AS TABLE
WITH units AS (
    SELECT
        g,
        CASE
            WHEN len(features) = max(len(features)) OVER () THEN features::DOUBLE[]
            ELSE error('held_out_scales: features are ' || coalesce(features::VARCHAR, 'NULL')
                || '; expected as many as in the other rows')
        END AS features
    FROM query_table(rel)
),
entries AS (
    SELECT
        g,
        generate_subscripts(features, 1) - 1 AS feature,
        unnest(list_transform(features, lambda x: CASE WHEN NOT isnan(x) THEN x END)) AS x
    FROM units
),
groups AS (SELECT DISTINCT g AS held_out, feature FROM entries)
SELECT
    held_out,
    groups.feature, -- from 0
    count(x) AS train_count, -- those with a value
    avg(x) AS mean, -- unit of the feature; NULL without a value
    CASE WHEN min(x) = max(x) THEN 1 ELSE stddev_pop(x) END::DOUBLE AS scale
FROM groups
LEFT JOIN entries ON entries.feature = groups.feature AND entries.g IS DISTINCT FROM held_out
GROUP BY held_out, groups.feature;
