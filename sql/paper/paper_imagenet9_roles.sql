-- purpose: how well the largest score of a method names what matched pairs of units show
-- grain: one row per study, method and statistic
-- inputs: core_pair_roles, bootstrap_replicates, comparisons_with_decaf
-- paper: section 6.2 (figure 3b); appendix F (magnitude-matched pairs)
-- Intervals resample models. A pair belongs to the models of both its units; it is drawn with the
-- model of its left unit, the one with the smaller Abs.
CREATE OR REPLACE VIEW paper_imagenet9_roles AS
WITH pairs AS MATERIALIZED (FROM core_pair_roles),
entries AS (
    SELECT {study: study, method: method, statistic: 'role_accuracy'} AS g,
        left_model_id AS cluster, credit AS x, NULL::DOUBLE AS y
    FROM pairs
    UNION ALL
    SELECT {study: study, method: method, statistic: 'ranking_accuracy'}, left_model_id,
        ranking_wins, ranking_count
    FROM pairs
),
counts AS (
    SELECT
        study, method, count(*) AS pair_count, sum(label_count) AS label_count,
        count(DISTINCT left_model_id) AS cluster_count,
        {role_accuracy: count(credit), ranking_accuracy: sum(ranking_count)} AS unit_counts
    FROM pairs
    GROUP BY study, method
),
replicates AS MATERIALIZED (
    SELECT
        g.study AS study, g.method AS method, '' AS part, g.statistic AS statistic, replicate,
        value, counts.cluster_count,
        if(g.statistic = 'role_accuracy', unit_counts.role_accuracy, unit_counts.ranking_accuracy)
            AS unit_count,
        'no pair without a missing score' AS undefined
    FROM bootstrap_replicates('entries', 500, 91702) AS found
    JOIN counts ON counts.study = g.study AND counts.method = g.method
    WHERE found.statistic = if(g.statistic = 'role_accuracy', 'mean', 'ratio')
),
published (method, statistic, published) AS (
    VALUES ('DECAF', 'role_accuracy', 0.9639884183858124), ('Abs', 'role_accuracy',
        0.3501829734185867), ('all', 'pairs', 8289), ('all', 'shown_behaviours', 17416)
),
estimates AS (
    FROM comparisons_with_decaf('replicates')
    UNION ALL BY NAME
    SELECT study, 'all' AS method, unnest(['pairs', 'shown_behaviours']) AS statistic,
        unnest([pair_count, label_count])::DOUBLE AS estimate
    FROM counts
    WHERE method = 'DECAF'
)
SELECT study, method, statistic, estimate, lower_90, upper_90, lower_95, upper_95,
    published.published::DOUBLE AS published, -- NULL where the paper has none
    estimate - published.published AS difference,
    reason -- why the estimate, or its interval, is NULL
FROM estimates
LEFT JOIN published USING (method, statistic)
ORDER BY study, statistic, method;
