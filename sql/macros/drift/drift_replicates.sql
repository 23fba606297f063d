-- purpose: every metric of two versions in the sample and in every bootstrap replicate
-- grain: one row per entry of rel, measured subject and metric
-- paper: appendix D.8 (statistical summaries)
-- rel is as for drift_pairs. The bootstrap draws whole sources. Both versions share their draws, as
-- do entries and metrics with equally many sources. A list begins with the sample; the replicates
-- follow.
CREATE OR REPLACE MACRO drift_replicates(rel, replicates, seed) AS TABLE
WITH resampled AS (
    SELECT
        g, source_count, metrics,
        resampled_sums(source_count, [], replicates, seed, positions, columns) AS sums
    FROM (FROM drift_trajectory_groups(rel) UNION ALL FROM drift_image_groups(rel))
),
measured AS (SELECT g, source_count, unnest(metrics) AS found, sums FROM resampled),
ratios AS (
    SELECT
        {
            study: g.study, reaudit_id: g.reaudit_id, entry: g.entry, against: g.against,
            pair_type: g.pair_type, path: g.path, variant: g.variant, metric: found.metric
        } AS g,
        source_count,
        list_transform(
            list_zip(sums[found.ratio[1]], sums[found.ratio[2]]),
            lambda sides: sides[1] / nullif(sides[2], 0)
        ) AS value,
        -- No replicates without the sample.
        CASE
            WHEN sums[found.ratio_before[1]][1] IS NOT NULL THEN list_transform(
                list_zip(sums[found.ratio_before[1]], sums[found.ratio_before[2]]),
                lambda sides: sides[1] / nullif(sides[2], 0)
            )
        END AS value_before
    FROM measured
)
SELECT
    g,
    source_count,
    value, -- NULL without any response
    value_before, -- NULL without a comparison as well
    CASE
        WHEN value_before IS NOT NULL THEN
            list_transform(list_zip(value, value_before), lambda sides: sides[1] - sides[2])
    END AS change
FROM ratios;
