-- purpose: mean profile of every model by class, split and kind of input, with spread and interval
-- grain: one row per study, model, pair type, path, grouping, member of the grouping and metric
-- paper: section 6; appendix D.8 (statistical summaries)
-- rel names a relation with the columns of core_profiles, such as some of its rows. Sources of a
-- member are drawn; members of as many sources share draws.
-- FROM breakdowns_of('my_profiles', 500, 91702)
CREATE OR REPLACE MACRO breakdowns_of(rel, replicates, seed) AS TABLE
WITH members AS MATERIALIZED (FROM pair_members()),
entries AS MATERIALIZED (
    SELECT
        {
            study: study, model_id: model_id, pair_type: pair_type, path: path,
            grouping: grouping, member: member, metric: metric
        } AS g,
        pair_id, source_id AS cluster, weight, x
    FROM query_table(rel)
    JOIN members USING (study, pair_id)
    UNPIVOT (x FOR metric IN (evidence, contradiction, fragility, abs_response))
),
spreads AS (
    SELECT g, count(DISTINCT pair_id) AS pair_count, quantile_cont(x, [0.1, 0.5, 0.9]) AS quantiles
    FROM entries
    GROUP BY g
)
SELECT
    unnest(g),
    pair_count,
    cluster_count AS source_count,
    estimate, -- mean with the weights of pairs, score units, as what follows
    lower_limit AS lower_95, -- NULL where reason says why
    upper_limit AS upper_95,
    quantiles[1] AS p10, -- over trajectories, without weights
    quantiles[2] AS p50,
    quantiles[3] AS p90,
    reason
FROM bootstrap_by_group('entries', replicates, seed, [0.95])
JOIN spreads USING (g)
WHERE statistic = 'mean';
